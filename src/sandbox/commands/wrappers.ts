import type { Words } from './commandLine.ts';
import { programName } from './shellScript.ts';

/** How to get past the arguments of a program that runs the rest of its words. */
interface Wrapper {
  /** Letters of the options that are followed by a value. */
  readonly valued?: string;
  /** The same for long options; with `=`, the value needs no knowledge. */
  readonly long?: readonly string[];
  /** Arguments before the command. */
  readonly operands?: number;
  /** Whether `NAME=value` may stand before the command. */
  readonly assigns?: boolean;
  /** Whether the words are joined and read by a shell. */
  readonly joins?: boolean;
}

const wrappers: ReadonlyMap<string, Wrapper> = new Map<string, Wrapper>([
  ['-', {}],
  ['builtin', {}],
  ['busybox', {}],
  ['caffeinate', { valued: 'tw' }],
  ['chronic', {}],
  ['chroot', { operands: 1, long: ['--userspec', '--groups'] }],
  ['chrt', { valued: 'DPT', operands: 1 }],
  ['command', {}],
  ['coproc', {}],
  ['doas', { valued: 'aCu' }],
  ['env', { valued: 'CPu', long: ['--chdir', '--unset'], assigns: true }],
  ['eval', { joins: true }],
  ['exec', { valued: 'a' }],
  ['faketime', { valued: 'f', operands: 1 }],
  ['flock', { valued: 'Ew', long: ['--timeout', '--conflict-exit-code'], operands: 1 }],
  ['ionice', { valued: 'cnpPu', long: ['--class', '--classdata'] }],
  ['ltrace', { valued: 'aAeFlnopsuwx' }],
  ['nice', { valued: 'n', long: ['--adjustment'] }],
  ['nocorrect', {}],
  ['noglob', {}],
  ['nohup', {}],
  ['parallel', { valued: 'aCEIjLNnPSs', long: ['--jobs', '--arg-file', '--colsep', '--sshlogin'] }],
  ['pkexec', { long: ['--user'] }],
  ['proxychains4', { valued: 'f' }],
  ['setarch', { operands: 1 }],
  ['setpriv', { long: ['--reuid', '--regid', '--groups', '--bounding-set', '--inh-caps', '--ambient-caps'] }],
  ['setsid', {}],
  ['ssh', { valued: 'BbcDEeFIiJLlmOopPQRSWw', operands: 1, joins: true }],
  ['stdbuf', { valued: 'eio', long: ['--error', '--input', '--output'] }],
  ['strace', { valued: 'abeEIoOpPsSuUX' }],
  [
    'sudo',
    {
      valued: 'CDghpRrTtUu',
      long: [
        '--user',
        '--group',
        '--host',
        '--prompt',
        '--chdir',
        '--chroot',
        '--role',
        '--type',
        '--close-from',
      ],
      assigns: true,
    },
  ],
  [
    'systemd-run',
    { valued: 'EHMpu', long: ['--unit', '--property', '--setenv', '--uid', '--gid', '--slice'] },
  ],
  ['taskset', { operands: 1 }],
  ['time', { valued: 'fo', long: ['--format', '--output'] }],
  ['timeout', { valued: 'ks', long: ['--kill-after', '--signal'], operands: 1 }],
  ['toybox', {}],
  ['trap', { joins: true }],
  ['unbuffer', {}],
  ['unshare', { valued: 'GRSw', long: ['--root', '--wd', '--setuid', '--setgid'] }],
  ['watch', { valued: 'n', long: ['--interval'], joins: true }],
  [
    'xargs',
    { valued: 'adEILnPs', long: ['--arg-file', '--delimiter', '--max-args', '--max-chars', '--max-procs'] },
  ],
]);

/** Shells that take a script with `-c`, whatever else is on their line. */
const shells = new Set(['ash', 'bash', 'dash', 'fish', 'ksh', 'mksh', 'sh', 'zsh']);

/** Programs that take a command line after `-c`. */
const withCommandOption = new Set(['flock', 'runuser', 'script', 'sg', 'su']);

/** Options of `find` and `fd` that are followed by a command. */
const execOptions = new Set(['-exec', '-execdir', '-ok', '-okdir', '-x', '-X', '--exec', '--exec-batch']);

/** The commands that a command runs by its own words: of `sudo`, `xargs`, `find -exec`, `sh -c` and the like. */
export function commandsInside(words: Words): readonly Words[] {
  const [path = '', ...rest] = words;
  const name = programName(path);
  if (shells.has(name)) {
    return scriptIn(rest);
  }
  if (name === 'alias') {
    return rest.map((definition) => asScript(definition.slice(definition.indexOf('=') + 1)));
  }
  if (name === 'find' || name === 'fd' || name === 'fdfind') {
    return commandsOfFind(rest);
  }
  const script = withCommandOption.has(name)
    ? rest[rest.findIndex((word) => /^-[a-z]*c$|^--command$/.test(word)) + 1]
    : undefined;
  const wrapper = wrappers.get(name);
  const wrapped = wrapper === undefined ? [] : behind(rest, wrapper);
  return [
    ...(script === undefined || script === rest[0] ? [] : [asScript(script)]),
    ...(wrapped.length === 0 ? [] : [wrapper?.joins === true ? asScript(wrapped.join(' ')) : wrapped]),
    ...(name === 'env' ? splitStrings(rest) : []),
  ];
}

/** The argv that has a text read as a script. */
export function asScript(script: string): Words {
  return ['sh', '-c', script];
}

/** Whether a command is a shell that may be given its script through its input. */
export function readsScript([path = '', ...rest]: Words): boolean {
  return shells.has(programName(path)) && rest.every((word) => /^[-+]/.test(word));
}

function behind(words: Words, { valued = '', long = [], operands = 0, assigns = false }: Wrapper): Words {
  let at = 0;
  for (let word = words[at]; word !== undefined && /^-/.test(word); word = words[at]) {
    at += 1;
    if (word === '--') {
      break;
    }
    const letter = [...word.slice(1)].findIndex((flag) => valued.includes(flag));
    if (long.includes(word) || (!word.startsWith('--') && letter !== -1 && letter === word.length - 2)) {
      at += 1;
    }
  }
  while (assigns && /^[^-=][^=]*=/.test(words[at] ?? '')) {
    at += 1;
  }
  return words.slice(at + operands);
}

/** The script of `bash --norc -xc SCRIPT NAME`: the first word after the options, one of which has a `c`. */
function scriptIn(words: Words): readonly Words[] {
  let at = 0;
  let hasScript = false;
  for (let word = words[at]; word !== undefined && /^[-+]./.test(word) && word !== '--'; word = words[at]) {
    hasScript ||= /^-[a-zA-Z]*c/.test(word);
    at += /^[-+][a-zA-Z]*[oO]$|^--(?:rcfile|init-file)$/.test(word) ? 2 : 1;
  }
  const script = words[words[at] === '--' ? at + 1 : at];
  return hasScript && script !== undefined ? [asScript(script)] : [];
}

function commandsOfFind(words: Words): readonly Words[] {
  const found: Words[] = [];
  for (let at = 0; at < words.length; at += 1) {
    if (execOptions.has(words[at] ?? '')) {
      const start = at + 1;
      while (at < words.length && words[at] !== ';' && words[at] !== '+') {
        at += 1;
      }
      found.push(words.slice(start, at));
    }
  }
  return found;
}

/** `env -S 'rm -rf x'` splits its text as a shell would. */
function splitStrings(words: Words): readonly Words[] {
  return words.flatMap((word, index) => {
    const [, attached] = /^(?:-[a-z0]*S|--split-string=)(.*)$/s.exec(word) ?? [];
    const text = word === '--split-string' || attached === '' ? words[index + 1] : attached;
    return text === undefined ? [] : [asScript(text)];
  });
}
