import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { ok } from '../../../../base/result.ts';
import type { SandboxPolicy } from '../../../../sandbox/policy/policy.ts';
import type { SandboxManager } from '../../../../sandbox/sandboxManager.ts';
import { temporaryFolders } from '../../../../sandbox/temporaryFolders.ts';
import type { AnswerBudget } from '../../server/answerBudget.ts';
import type { ServiceFactory } from '../../server/service.ts';
import { confinementOf } from '../sandboxContext/confinement.ts';
import type { ContextMachine } from '../sandboxContext/contextMachine.ts';
import { createFileService } from './fileService.ts';

export interface SessionFilesOptions {
  readonly machine: ContextMachine;
  readonly answers: AnswerBudget;
  /** `dist`. */
  readonly bundleFolder: string;
  /** Of the client's session, once there is one. */
  readonly confinedBy: (policy: SandboxPolicy) => SandboxManager;
  /** What is never written on the client's behalf. */
  readonly trustedPaths: () => readonly string[];
}

/** The file methods for a server's connections, confined as its processes are. */
export function sessionFileService({
  machine,
  answers,
  bundleFolder,
  confinedBy,
  trustedPaths,
}: SessionFilesOptions): ServiceFactory {
  return createFileService({
    answers,
    confine: async (sandbox) => {
      const confinement = await confinementOf({ sandbox }, { kind: 'files' }, machine);
      return confinement.ok ? ok(confinement.value.policy) : confinement;
    },
    surroundings: (policy) => {
      const trusted = [process.execPath, ...trustedPaths()].flatMap(canonical);
      return {
        sandbox: confinedBy(policy),
        facts: { temporaryFolders: temporaryFolders(), trustedPaths: trusted },
      };
    },
    workerArgv: [process.execPath, join(bundleFolder, 'cli.js'), 'file-worker'],
  });
}

function canonical(path: string): string[] {
  try {
    return [realpathSync(path)];
  } catch {
    // It does not exist, so nothing trusts it.
    return [];
  }
}
