import { execFileSync } from 'node:child_process';
import { copyFile, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createLocalBackend } from '../../src/runtime/exec/localBackend.ts';
import type { Words } from '../../src/sandbox/commands/commandLine.ts';
import { createTemporaryFolder } from './temporaryFolder.ts';
import { createTestSandbox, testPolicy } from './testRuntime.ts';

const fixtures = join(import.meta.dirname, '../fixtures/shellWords');

/** Commands that dash runs itself, whose words can therefore not be seen. */
const ownOfDash: ReadonlySet<string> = new Set(
  (
    ': alias bg break cd chdir command continue echo eval exec exit export false fg getopts hash jobs kill local ' +
    'printf pwd read readonly return set shift test times trap true type ulimit umask unalias unset wait ['
  ).split(' '),
);

export interface ShellCase {
  readonly script: string;
  /** What the script is thought to run. */
  readonly commands: readonly Words[];
  readonly shells: readonly ('bash' | 'dash' | 'zsh')[];
}

/** Where the shells of this machine do something else than was thought: run in the sandbox, with recorders for commands. */
export async function differencesFromShells(
  cases: readonly ShellCase[],
  zsh: string | undefined,
): Promise<readonly string[]> {
  const folder = await createTemporaryFolder('words');
  try {
    await prepare(folder.path, cases, zsh);
    await runAll(folder.path);
    const differences = await Promise.all(
      cases.map((shellCase, number) => differencesOf(folder.path, shellCase, number)),
    );
    return differences.flat();
  } finally {
    await folder.dispose();
  }
}

async function prepare(folder: string, cases: readonly ShellCase[], zsh: string | undefined): Promise<void> {
  for (const name of ['tools', 'names', 'logs']) {
    await mkdir(join(folder, name));
  }
  const tools = join(folder, 'tools');
  execFileSync('gcc', ['-O1', '-static', '-o', join(tools, 'record'), join(fixtures, 'record.c')]);
  await symlink('record', join(tools, 'not-found'));
  for (const name of ['bashrc', 'runCases.sh']) {
    await copyFile(join(fixtures, name), join(tools, name));
  }
  await copyFile(join(fixtures, 'zshenv'), join(tools, '.zshenv'));
  if (zsh !== undefined) {
    await copyFile(zsh, join(tools, 'zsh'));
  }
  const names = new Set(cases.flatMap(({ commands }) => commands.map(([name = '']) => name)));
  await Promise.all([...names].map((name) => symlink(join(tools, 'record'), join(folder, 'names', name))));
  await writeFile(
    join(folder, 'cases'),
    cases.map(({ script }, number) => `${number}\0${script}\0`).join(''),
  );
}

async function runAll(folder: string): Promise<void> {
  const started = await createLocalBackend(createTestSandbox()).start({
    argv: [
      ...['/bin/sh', '-c', 'exec xargs -0 -n 100 -P 2 /bin/sh "$1" "$2" <"$2/cases"', 'sh'],
      ...[join(folder, 'tools/runCases.sh'), folder],
    ],
    cwd: folder,
    env: { PATH: '/usr/bin:/bin', HOME: folder, LC_ALL: 'C.UTF-8' },
    policy: testPolicy(folder),
  });
  if (!started.ok) {
    throw new Error(started.error.message);
  }
  await started.value.closed;
  if (started.value.exit?.exitCode !== 0) {
    throw new Error(`the shells were not run: ${JSON.stringify(started.value.exit)}`);
  }
}

async function differencesOf(
  folder: string,
  { script, commands, shells }: ShellCase,
  number: number,
): Promise<readonly string[]> {
  const log = (name: string) =>
    readFile(join(folder, 'logs', `${number}.${name}`), 'utf8').catch(() => undefined);
  const told = (shell: string, what: string) =>
    `${shell}: ${JSON.stringify(script)} was thought to be ${JSON.stringify(commands)}, but ${what}`;
  const found: string[] = [];
  if ((await log('rejected')) !== undefined) {
    found.push(told('bash -n', 'is refused'));
  }
  for (const shell of shells) {
    const text = await log(shell);
    const isSeen = shell !== 'dash' || !commands.some(([name = '']) => ownOfDash.has(name));
    if (isSeen && (text !== undefined || shell === 'bash')) {
      const recorded = readLog(text ?? '');
      if (!isSameSet(recorded, commands)) {
        found.push(told(shell, `runs ${JSON.stringify(recorded)}`));
      }
    }
  }
  return found;
}

function readLog(text: string): readonly Words[] {
  const fields = text.split('\0');
  const commands: Words[] = [];
  for (let at = 0; at < fields.length - 1;) {
    const length = Number(fields[at]) + 1;
    commands.push(fields.slice(at + 1, at + 1 + length));
    at += 1 + length;
  }
  return commands;
}

/** Commands of a pipe come in any order, and twice when the script was run twice. */
function isSameSet(left: readonly Words[], right: readonly Words[]): boolean {
  const [first, second] = [left, right].map(
    (commands) => new Set(commands.map((words) => JSON.stringify(words))),
  );
  return (
    first !== undefined &&
    second !== undefined &&
    first.size === second.size &&
    [...first].every((key) => second.has(key))
  );
}
