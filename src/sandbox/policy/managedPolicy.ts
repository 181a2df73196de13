import { closeSync, constants, fstatSync, openSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import { errorCode } from '../paths.ts';
import type { PolicyProblem } from './input.ts';

/** Where the machine's administrator says what no policy here may exceed. */
export function managedPolicyPath(platform: NodeJS.Platform): string {
  if (platform === 'win32') {
    // Not in ProgramData, where every user may make folders.
    return 'C:\\Program Files\\Cordon\\policy.json';
  }
  return platform === 'darwin'
    ? '/Library/Application Support/Cordon/policy.json'
    : '/etc/cordon/policy.json';
}

/**
 * What the administrator's file says, for the `managed` of a policy's input; undefined when there is none. A file
 * that cannot be read, is no JSON, or could be somebody else's is an error: then nothing runs.
 */
export function readManagedPolicy(
  platform: NodeJS.Platform,
  path: string = managedPolicyPath(platform),
): Result<unknown, PolicyProblem> {
  try {
    const owner = platform === 'win32' ? undefined : whoElseMayWrite(path);
    if (owner !== undefined) {
      return fail(
        problem(path, owner, `chown root ${path} && chmod go-w ${path}, and the same for its folder`),
      );
    }
    return ok(JSON.parse(readText(path)));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') {
      return ok(undefined);
    }
    return fail(problem(path, `it cannot be read: ${(error as Error).message}`, 'correct it'));
  }
}

function readText(path: string): string {
  // A pipe would never answer.
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!fstatSync(descriptor).isFile()) {
      throw new Error('it is not a file');
    }
    return readFileSync(descriptor, 'utf8');
  } finally {
    closeSync(descriptor);
  }
}

/** Why the file, or a folder in which it could be replaced, may say what the administrator did not. */
export function whoElseMayWrite(path: string): string | undefined {
  const real = realpathSync(path);
  for (const place of [real, dirname(real), dirname(path)]) {
    const { uid, mode } = statSync(place);
    if (uid !== 0) {
      return `${place} belongs to user ${uid} instead of root`;
    }
    if ((mode & 0o022) !== 0) {
      return `${place} can be written by others than root`;
    }
  }
  return undefined;
}

function problem(path: string, why: string, cure: string): PolicyProblem {
  return {
    field: path,
    message: `The administrator's policy ${path} does not count: ${why}.`,
    hint: `Ask the administrator of this machine to fix it (${cure}) or to remove the file. Nothing runs until then.`,
    source: 'managed',
  };
}
