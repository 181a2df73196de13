import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { parseArgs } from 'node:util';
import { createLocalBackend } from '../runtime/exec/localBackend.ts';
import type { ExecProcess, StartError } from '../runtime/exec/execBackend.ts';
import { startableArgv } from '../runtime/exec/findExecutable.ts';
import { environmentUnder } from '../runtime/environmentUnder.ts';
import { policyForCommand } from '../runtime/orchestrator.ts';
import { createBashParser } from '../sandbox/commands/bashParser.ts';
import type { Finding } from '../sandbox/aftermath/finding.ts';
import { findingLines } from '../sandbox/aftermath/findingLines.ts';
import type { SandboxPolicy } from '../sandbox/policy/policy.ts';
import { isUnsandboxed } from '../sandbox/policy/policy.ts';
import type { SandboxError, SandboxManager } from '../sandbox/sandboxManager.ts';
import { runSelfTest } from '../sandbox/selfTest/selfTest.ts';
import { selfTestPage, selfTestTrouble } from '../sandbox/selfTest/selfTestPage.ts';
import { signalGroup, signalSandboxedGroup } from '../terminal/processGroup.ts';
import {
  cliCompanion,
  cliHelperFolder,
  createCliSandbox,
  policyFromFlags,
  policyOptions,
} from './policyFlags.ts';
import { UsageError } from './usageError.ts';

const passedSignals = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;

/** `cordon sandbox`: runs an argv under a root's policy as if it had been started directly. */
export async function runSandbox(args: readonly string[]): Promise<number> {
  if (args.includes('--check') && !args.includes('--')) {
    return checkSandbox(args);
  }
  const { policy: ofRoot, argv } = parse(args);
  const policy = await policyForCommand(ofRoot, argv, createBashParser());
  const sandbox = createCliSandbox(policy);
  const isTty = process.stdin.isTTY && process.stdout.isTTY;
  return isTty ? runOnTerminal(sandbox, policy, argv) : runOnInheritedStdio(sandbox, policy, argv);
}

function parse(args: readonly string[]): { policy: SandboxPolicy; argv: readonly [string, ...string[]] } {
  const separator = args.indexOf('--');
  const argv = separator === -1 ? [] : args.slice(separator + 1);
  if (argv.length === 0) {
    throw new UsageError(
      "what to run is missing: put it after '--', as in: cordon sandbox --root . -- ls -l",
    );
  }
  return { ...policyOf(args.slice(0, separator)), argv: argv as [string, ...string[]] };
}

function policyOf(args: readonly string[]): { policy: SandboxPolicy } {
  try {
    const { values } = parseArgs({ args: [...args], options: policyOptions, strict: true });
    return { policy: policyFromFlags(values).policy };
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError((error as Error).message);
  }
}

/** `cordon sandbox --check`: tries every promise of the sandbox under the policy; 1 when one does not hold. */
async function checkSandbox(args: readonly string[]): Promise<number> {
  const { policy } = policyOf(args.filter((arg) => arg !== '--check'));
  if (isUnsandboxed(policy)) {
    throw new UsageError('--check: danger-full-access has no sandbox to check.');
  }
  const result = await runSelfTest({
    manager: createCliSandbox(policy),
    policy,
    companion: cliCompanion(),
  });
  if (!result.ok) {
    return refuse(result.error);
  }
  process.stdout.write(selfTestPage(result.value));
  return selfTestTrouble(result.value) === undefined ? 0 : 1;
}

/** Pipes and files go straight to the command: no byte passes through this process. */
async function runOnInheritedStdio(
  sandbox: SandboxManager,
  policy: SandboxPolicy,
  argv: readonly string[],
): Promise<number> {
  const env = environmentUnder(policy, process.env, false, { inFront: cliHelperFolder() });
  const launch = await sandbox.transform(policy, { argv, cwd: process.cwd(), env, tty: false });
  if (!launch.ok) {
    return refuse(launch.error);
  }
  const startable = await startableArgv(launch.value);
  if (!startable.ok) {
    await launch.value.release();
    return refuse(startable.error);
  }
  const [file, ...rest] = startable.value;
  // A group of its own: a signal from the terminal reaches the command through us, once, and spares the launcher.
  const child = spawn(file, rest, {
    cwd: launch.value.cwd,
    env: launch.value.env,
    stdio: 'inherit',
    detached: true,
  });
  const exitCode = new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) =>
      resolve(signal === null ? (code ?? 0) : 128 + constants.signals[signal]),
    );
  });
  for (const signal of passedSignals) {
    process.on(signal, () => {
      const pid = child.pid as number;
      const { sandbox } = launch.value;
      void (sandbox === 'none'
        ? signalGroup(pid, signal)
        : signalSandboxedGroup(pid, signal, sandbox) || signalGroup(pid, signal));
    });
  }
  return exitCode.finally(async () => tell(await launch.value.release()));
}

/** On a terminal the command gets one of its own, so that it cannot type into ours. */
async function runOnTerminal(
  sandbox: SandboxManager,
  policy: SandboxPolicy,
  argv: readonly string[],
): Promise<number> {
  const started = await createLocalBackend(sandbox).start({
    argv,
    cwd: process.cwd(),
    env: environmentUnder(policy, process.env, true, { inFront: cliHelperFolder() }),
    policy,
    tty: terminalSize(),
  });
  if (!started.ok) {
    return refuse(started.error);
  }
  const child = started.value;
  child.onEvent((event) => {
    if (event.kind === 'output') {
      process.stdout.write(event.chunk);
    }
  });
  const restore = connectTerminal(child);
  try {
    await child.closed;
  } finally {
    restore();
  }
  tell(child.findings);
  return child.exit?.exitCode ?? 1;
}

function connectTerminal(child: ExecProcess): () => void {
  const onInput = (bytes: Buffer): void => void child.write(bytes);
  process.stdin.setRawMode(true).on('data', onInput);
  process.stdout.on('resize', () => child.resize(terminalSize()));
  for (const signal of passedSignals) {
    process.on(signal, () => child.signal(signal));
  }
  return () => {
    process.stdin.off('data', onInput).setRawMode(false).pause();
  };
}

function terminalSize(): { columns: number; rows: number } {
  return { columns: process.stdout.columns || 80, rows: process.stdout.rows || 24 };
}

function tell(findings: readonly Finding[]): void {
  for (const line of findingLines(findings)) {
    process.stderr.write(`cordon: ${line}\n`);
  }
}

function refuse(error: StartError | SandboxError): number {
  process.stderr.write(`cordon: ${error.message}\n${error.hint}\n`);
  if (error.kind === 'spawn-not-found') {
    return 127;
  }
  return error.kind === 'spawn-permission-denied' ? 126 : 125;
}
