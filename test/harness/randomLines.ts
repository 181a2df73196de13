import type { Random } from './random.ts';

const names = [
  'ls',
  'git',
  'npm',
  'cat',
  'make',
  'echo',
  'grep',
  'rm',
  'sed',
  'c1',
  'c2',
  'a.out',
  'g++',
  'x_y',
  'py3',
];
const plain = [
  '-la',
  '--flag=x',
  'a',
  'src/a.ts',
  '1',
  '42',
  'x=y',
  'a:b',
  'HEAD',
  '.',
  '-',
  '--',
  '@',
  '+x',
  'a,b',
  '%s',
];
const quoted = [
  "'a b'",
  '"a b"',
  "''",
  '""',
  "'$x'",
  '"\\$x"',
  "'\n'",
  '"\n"',
  '"\\\\"',
  "'\\'",
  '"é"',
  "'日本'",
  '"it\'s"',
  "'\"'",
];
const joints = [
  ' && ',
  ' || ',
  ' | ',
  '; ',
  '\n',
  '&&',
  '||',
  '|',
  ';',
  ' ;\n',
  ' &&\n',
  ' |\n\n',
  '\n\n',
  ' # note\n',
  ' \\\n',
];

/** What makes a line something else than it seems. */
const tricks = [
  ...[
    '$',
    '`',
    '$(',
    ')',
    '(',
    '{',
    '}',
    '{}',
    '[',
    ']',
    '*',
    '?',
    '~',
    '!',
    '#',
    '&',
    ';',
    '|',
    '<',
    '>',
    '\\',
    "'",
    '"',
  ],
  ...[
    '\n',
    ' ',
    '\t',
    '\\\n',
    '\r',
    '\0',
    '\u00a0',
    '\u200b',
    '\u202e',
    'é',
    '\u0085',
    '\u001b',
    '\u007f',
    '\ud800',
  ],
  ...[
    "$'a\\nb'",
    '$"a"',
    '$((1+1))',
    '${x}',
    '$x',
    '<(',
    '>(',
    '<<EOF\n',
    "<<'E'\n",
    '<<-E\n',
    '\nEOF\n',
    '\nE\n',
    '<<<',
    '&>',
    '|&',
  ],
  ...[
    '2>',
    '>&',
    ';;',
    ';&',
    '()',
    'if ',
    'then ',
    'fi',
    'for ',
    'do ',
    'done',
    'case ',
    'esac',
    'in ',
    'time ',
    '! ',
    '[[ ',
    ']]',
  ],
  ...[
    'function ',
    'coproc ',
    'select ',
    'alias ',
    'eval ',
    'export ',
    'a=1 ',
    'a=',
    '=ls',
    '~root',
    'a~',
    '^',
    'a#b',
    '#c',
    '!!',
  ],
  ...[
    '{a,b}',
    '{1..3}',
    '@(a)',
    '+(b)',
    '!(c)',
    '[a]',
    '[!a]',
    '-c',
    '--',
    '\\a',
    "\\'",
    '\\"',
    '\\$',
    '\\ ',
    '\\#',
    "''",
    '""',
    "'''",
  ],
  ...[
    'noglob ',
    'repeat 2 ',
    '- ',
    'exec ',
    'command ',
    'builtin ',
    '. ',
    ': ',
    '&&',
    '||',
    '\t\n',
    ' #',
    '# ',
    "'#'",
    '~+',
    '%1',
    ',',
  ],
];

/** A line of commands, most of them plain, some with something in it that is not. */
export function randomLine(random: Random, corpus: readonly string[]): string {
  const line = random.chance(0.3) ? random.pick(corpus) : plainLine(random);
  const changes = random.chance(0.35) ? 0 : random.integer(1, 3);
  return Array.from({ length: changes }).reduce<string>((text) => changed(random, text), line);
}

function plainLine(random: Random): string {
  let line = random.chance(0.1) ? random.pick([' ', '\n', '# note\n', '\t']) : '';
  const commands = random.integer(1, 4);
  for (let index = 0; index < commands; index++) {
    line += (index === 0 ? '' : random.pick(joints)) + plainCommand(random);
  }
  return line + (random.chance(0.2) ? random.pick([';', '\n', ' ', ' # end', ' \\\n', '\t']) : '');
}

function plainCommand(random: Random): string {
  const words = Array.from({ length: random.integer(0, 4) }, () => word(random));
  const body = random.chance(0.06)
    ? random.pick([
        " <<'EOF'\nbody $x\nEOF\n",
        ' <<EOF\nbody\nEOF',
        '<<-E\n\tbody\n\tE\n',
        ' <<"E" \n`x`\nE\n\n',
      ])
    : '';
  return [random.pick(names), ...words].join(random.chance(0.9) ? ' ' : '\t ') + body;
}

function word(random: Random): string {
  const parts = random.chance(0.8) ? 1 : random.integer(2, 4);
  return Array.from({ length: parts }, () => random.pick(random.chance(0.6) ? plain : quoted)).join('');
}

function changed(random: Random, line: string): string {
  const at = random.integer(0, line.length);
  const end = Math.min(line.length, at + random.integer(1, 4));
  switch (random.integer(0, 4)) {
    case 0:
      return line.slice(0, at) + line.slice(end);
    case 1:
      return line.slice(0, at) + line.slice(at, end) + line.slice(at);
    case 2:
      return line.slice(0, at) + random.pick(tricks) + line.slice(end);
    default:
      return line.slice(0, at) + random.pick(tricks) + line.slice(at);
  }
}
