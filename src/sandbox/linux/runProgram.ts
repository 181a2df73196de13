import { execFile } from 'node:child_process';

export interface ProgramResult {
  /** Undefined when it could not be started or took too long. */
  readonly exitCode: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end. Never rejects. */
export type RunProgram = (file: string, args: readonly string[]) => Promise<ProgramResult>;

const timeoutMs = 5_000;
const maxBytes = 64 * 1024;

/** Runs with an empty environment in the C locale, so that the messages can be recognised. */
export const runProgram: RunProgram = (file, args) =>
  new Promise((resolve) => {
    const options = { cwd: '/', env: { LC_ALL: 'C' }, timeout: timeoutMs, maxBuffer: maxBytes };
    execFile(file, [...args], options, (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code;
      resolve({ exitCode: typeof code === 'number' ? code : undefined, stdout, stderr });
    });
  });
