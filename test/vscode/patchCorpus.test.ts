import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { callTool, rootFolder } from './callTool.ts';

const project = vscode.extensions.all.find(
  ({ packageJSON }) => (packageJSON as { name?: string }).name === 'cordon',
);
const shared = join(project?.extensionPath ?? '', '..', 'shared');
const corpusPath = join(shared, 'corpus', 'apply-patch');
const libraryPath = join(shared, 'check', 'apply_patch_lib.mjs');

/**
 * Not for a tool: about the call of the program, or with the name of a machine, which the program ignores and the
 * reference's agent refuses, as the tool does.
 */
const forTheProgram: ReadonlySet<string> = new Set([
  'env-empty-stdin',
  'enc-patch-not-utf8',
  'envid-ignored',
  'envid-padded',
]);

/** Improvements that Cordon does not make; it does what the reference does. */
const deliberate: ReadonlySet<string> = new Set(['add-overwrite']);

describe('cordon_apply_patch over the corpus', () => {
  if (!existsSync(corpusPath) || !existsSync(libraryPath)) {
    it.skip(`needs the corpus at ${corpusPath} and ${libraryPath}`);
    return;
  }
  const names = readdirSync(corpusPath).filter((name) => existsSync(join(corpusPath, name, 'case.json')));
  let library: Library;
  before(async () => {
    library = (await import(libraryPath)) as Library;
  });

  for (const name of names) {
    it(name, async function () {
      const stored = library.loadCase(join(corpusPath, name));
      const patch = stored.patch.toString('utf8');
      const isForOrdinaryUsers = stored.unpriv && process.getuid?.() === 0;
      if (forTheProgram.has(name) || isForOrdinaryUsers) {
        this.skip();
      }
      const folder = join(rootFolder().uri.fsPath, `corpus-${name}`);
      mkdirSync(folder);
      try {
        library.writeTree(folder, stored.files);
        const input = patch.replaceAll('{{ROOT}}', folder);
        const answer = await callTool('cordon_apply_patch', {
          input,
          workdir: join(folder, stored.cwd),
        }).then(
          (text) => ({ exit: 0, text }),
          (error: unknown) => ({ exit: 1, text: String(error) }),
        );
        const isBetter = stored.meta.policy === 'improve' && !deliberate.has(name);
        const exit = isBetter ? (stored.meta.better?.exit ?? stored.meta.exit) : stored.meta.exit;
        assert.equal(answer.exit, exit, answer.text);
        const expected = isBetter ? (stored.better ?? stored.expected) : stored.expected;
        if (stored.unpriv) {
          openAll(folder);
        }
        const comparesModes = !isBetter && !stored.unpriv;
        const differences = library.diffStored(library.snapshot(folder), expected, comparesModes);
        assert.deepEqual(differences, [], answer.text);
      } finally {
        openAll(folder);
        await rm(folder, { recursive: true, force: true });
      }
    });
  }
});

/** Lets an ordinary user read and remove what a case had closed. */
function openAll(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) {
      openAll(join(folder, entry.name));
    } else if (entry.isFile()) {
      chmodSync(join(folder, entry.name), 0o644);
    }
  }
}

interface Library {
  loadCase(folder: string): Case;
  writeTree(folder: string, files: unknown): void;
  snapshot(folder: string): unknown;
  /** Differences between what is there and what was stored, as sentences. */
  diffStored(tree: unknown, stored: unknown, comparesModes?: boolean): readonly string[];
}

interface Case {
  readonly meta: {
    readonly policy: 'match' | 'improve';
    readonly exit: number;
    readonly better?: { readonly exit?: number };
  };
  readonly patch: Buffer;
  readonly cwd: string;
  readonly files: unknown;
  readonly unpriv: boolean;
  readonly expected: unknown;
  readonly better: unknown;
}
