import { randomUUID } from 'node:crypto';
import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import * as vscode from 'vscode';
import { CheckpointStore } from '../../src/patch/checkpoint/checkpointStore.ts';
import type { PatchError } from '../../src/patch/patchError.ts';
import type { Plan } from '../../src/patch/plan/plan.ts';
import type { SandboxPolicy } from '../../src/sandbox/policy/policy.ts';
import { nodeMachine } from '../../src/sandbox/policy/nodeMachine.ts';
import { resolvePolicy } from '../../src/sandbox/policy/resolve.ts';
import type { WriteRefusal } from '../../src/sandbox/writeAccess.ts';
import { writeAccess } from '../../src/sandbox/writeAccess.ts';
import { PatchApplier } from '../../src/ui/patch/patchApplier.ts';
import { createTemporaryFolder } from '../harness/temporaryFolder.ts';
import { planContents } from '../harness/testPlan.ts';
import { rootFolder } from './callTool.ts';

/** An applier in the open folder, with a checkpoint store of its own. */
export interface PatchSetup {
  readonly applier: PatchApplier;
  readonly checkpoints: CheckpointStore;
  /** Everything that was logged since the test began. */
  readonly log: string[];
  readonly policy: SandboxPolicy;
  /** A path in a folder of this test, inside the open folder. */
  readonly path: (name: string) => string;
  readonly write: (name: string, content: string | Buffer, mode?: number) => Promise<string>;
  /** Plans new contents for names in the folder of this test; undefined deletes. */
  readonly plan: (contents: Readonly<Record<string, string | Buffer | undefined>>) => Promise<Plan>;
  readonly apply: (plan: Plan, more?: { policy?: SandboxPolicy }) => Promise<readonly string[]>;
  readonly applyReviewed: (plan: Plan, refusals: readonly WriteRefusal[]) => Promise<readonly string[]>;
  /** Applies what is expected to fail, and gives the error. */
  readonly failure: (plan: Plan) => Promise<PatchError>;
}

/** Sets one up for every test of the suite that calls it. */
export function usePatchSetup(): () => PatchSetup {
  let setup: PatchSetup | undefined;
  let dispose: (() => Promise<void>) | undefined;

  before('documents are saved by nobody but us', async () => {
    await setSetting('files', 'autoSave', 'off');
  });

  beforeEach('set up', async () => {
    const root = rootFolder().uri.fsPath;
    // Never the same name twice: the editor remembers the documents of a path for a while.
    const folder = join(root, `patches-${randomUUID()}`);
    const store = await createTemporaryFolder('checkpoints');
    const log: string[] = [];
    const write = (message: string): void => void log.push(message);
    const checkpoints = new CheckpointStore({
      folder: store.path,
      log: { debug: write, info: write, warn: write, error: write },
    });
    const applier = new PatchApplier({
      log: { debug: write, info: write, warn: write, error: write },
      checkpoints,
      accessUnder: (policy) => writeAccess(policy),
    });
    const policy = policyOf(root);
    const request = (plan: Plan, refusals: readonly WriteRefusal[] = []) => ({
      title: 'Test patch',
      cwd: root,
      policy,
      plan,
      refusals,
    });
    setup = {
      applier,
      checkpoints,
      log,
      policy,
      path: (name) => join(folder, name),
      async write(name, content, mode) {
        const path = join(folder, name);
        await mkdir(dirname(path), { recursive: true });
        await writeFile(path, content, mode === undefined ? {} : { mode });
        return path;
      },
      plan: (contents) =>
        planContents(
          applier.files,
          Object.fromEntries(
            Object.entries(contents).map(([name, content]) => [join(folder, name), content]),
          ),
        ),
      async apply(plan, more = {}) {
        const applied = await applier.apply({ ...request(plan), ...more });
        if (!applied.ok) {
          throw new Error(`${applied.error.message}\n${applied.error.hint}\n${log.join('\n')}`);
        }
        return applied.value.notes;
      },
      async applyReviewed(plan, refusals) {
        const applied = await applier.applyReviewed(request(plan, refusals));
        if (!applied.ok) {
          throw new Error(applied.error.message);
        }
        return applied.value.notes;
      },
      async failure(plan) {
        const applied = await applier.apply(request(plan));
        if (applied.ok) {
          throw new Error(`It was applied:\n${log.join('\n')}`);
        }
        return applied.error;
      },
    };
    dispose = async () => {
      applier.dispose();
      await closeEverything();
      await rm(folder, { recursive: true, force: true });
      await store.dispose();
    };
  });

  afterEach('clean up', async () => {
    await dispose?.();
    setup = undefined;
  });

  after('settings as before', async () => {
    await setSetting('files', 'autoSave', undefined);
    await rm(join(rootFolder().uri.fsPath, '.vscode'), { recursive: true, force: true });
  });

  return () => {
    if (setup === undefined) {
      throw new Error('There is a setup only inside tests.');
    }
    return setup;
  };
}

export function policyOf(root: string, writableRoots: readonly string[] = []): SandboxPolicy {
  const policy = resolvePolicy({
    ...nodeMachine(),
    root,
    isTrusted: true,
    user: { writableRoots: [...writableRoots] },
    canonicalize: (path) => path,
  });
  if (!policy.ok) {
    throw new Error(policy.error.message);
  }
  return policy.value;
}

export async function setSetting(section: string, name: string, value: unknown): Promise<void> {
  await vscode.workspace.getConfiguration(section).update(name, value, vscode.ConfigurationTarget.Workspace);
}

/** Opens a file in an editor and gives its document unsaved text. */
export async function typeInto(
  path: string,
  place: readonly [line: number, character: number],
  text: string,
): Promise<vscode.TextEditor> {
  const editor = await vscode.window.showTextDocument(vscode.Uri.file(path), { preview: false });
  await editor.edit((builder) => builder.insert(new vscode.Position(...place), text));
  return editor;
}

export async function modeOf(path: string): Promise<number> {
  return (await stat(path)).mode & 0o777;
}

async function closeEverything(): Promise<void> {
  for (const document of vscode.workspace.textDocuments) {
    if (document.isDirty && (document.uri.scheme === 'file' || document.isUntitled)) {
      await vscode.window.showTextDocument(document, { preview: false });
      await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
    }
  }
  await vscode.commands.executeCommand('workbench.action.closeAllEditors');
}
