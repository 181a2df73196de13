import { runExec } from './exec.ts';
import { runSandbox } from './sandbox.ts';
import { usage } from './usage.ts';
import { UsageError } from './usageError.ts';

const commands: Readonly<Record<string, (args: readonly string[]) => Promise<number>>> = {
  sandbox: runSandbox,
  exec: runExec,
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
    process.stdout.write(usage);
    return 0;
  }
  return command(args);
}

main(process.argv.slice(2)).then(
  (exitCode) => {
    process.exitCode = exitCode;
  },
  (error: unknown) => {
    const text =
      error instanceof UsageError ? error.message : error instanceof Error ? error.stack : String(error);
    process.stderr.write(`cordon: ${text}\n`);
    process.exitCode = error instanceof UsageError ? 2 : 70;
  },
);
