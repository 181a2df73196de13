import { serverUsage, usage } from './usage.ts';

type Command = (args: readonly string[]) => Promise<number>;

/** Each is loaded when it is called: a patch in a shell script must not wait for terminals and schemas. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  sandbox: async () => (await import('./sandbox.ts')).runSandbox,
  exec: async () => (await import('./exec.ts')).runExec,
  'exec-server': async () => (await import('./execServer.ts')).runExecServer,
  audit: async () => (await import('./audit.ts')).runAudit,
  'apply-patch': async () => (await import('./applyPatch.ts')).runApplyPatch,
  'file-worker': async () => (await import('./fileWorker.ts')).runFileWorker,
};

async function main([name, ...args]: readonly string[]): Promise<number> {
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    process.stdout.write(usage);
    return name === undefined ? 2 : 0;
  }
  const command = commands[name];
  if (command === undefined) {
    process.stderr.write(
      `cordon: '${name}' is not a command. Commands are: ${Object.keys(commands).join(', ')}.\n`,
    );
    return 2;
  }
  if (args[0] === '--help' || args[0] === '-h') {
    process.stdout.write(name === 'exec-server' ? serverUsage : usage);
    return 0;
  }
  return (await command())(args);
}

main(process.argv.slice(2)).then(
  (exitCode) => {
    process.exitCode = exitCode;
  },
  (error: unknown) => {
    const isUsageError = error instanceof Error && error.name === 'UsageError';
    const text = !(error instanceof Error) ? String(error) : isUsageError ? error.message : error.stack;
    process.stderr.write(`cordon: ${text}\n`);
    process.exitCode = isUsageError ? 2 : 70;
  },
);
