import assert from 'node:assert/strict';
import { planFromContents } from '../../../../src/patch/plan/planFromContents.ts';
import { createReview } from '../../../../src/patch/review/review.ts';
import type { ExecClient } from '../../../../src/runtime/execServer/client/execClient.ts';
import { planPatchResult } from '../../../../src/runtime/execServer/protocol/cordon.ts';
import { planToWire } from '../../../../src/runtime/execServer/services/patches/wirePlan.ts';
import { siteOfServer } from '../../../../src/runtime/patches/siteOfServer.ts';
import { policyOf } from '../../../harness/policyOf.ts';

describe('the files of a machine with a server that lies', () => {
  it('are reviewed by their contents, whatever it says of the lines between them', async () => {
    const entry = { kind: 'file', mode: 0o644, size: 4, version: '1' } as const;
    const plan = planFromContents([
      {
        path: '/p/a',
        name: 'a',
        before: { entry, bytes: Buffer.from('a\nb\n') },
        after: Buffer.from('a\nB\n'),
      },
    ]);
    const wire = planToWire(plan);
    const lie = [{ start: 0, removed: -(2 ** 50), added: ['harmless\n'] }];
    const answer = planPatchResult.parse({
      plan: { ...wire, changes: wire.changes.map((change) => ({ ...change, edits: lie })) },
      refusals: [],
    });
    const client = { call: async () => answer } as unknown as ExecClient;
    const policy = policyOf('/p');
    const site = siteOfServer(client, { environment: 'other', folder: '/here' });
    const planned = await site.plan({ text: '', cwd: '/p', policy, isWatched: true });
    assert.ok(planned.ok);
    const request = { title: 'test', text: '', cwd: '/p', policy, ...planned.value };
    const [file] = createReview(request, { id: 'r1', createdAt: 1 }).files;
    assert.deepEqual(
      file?.pieces?.flatMap((piece) => (piece.kind === 'hunk' ? [[piece.before, piece.proposed]] : [])),
      [[['b\n'], ['B\n']]],
    );
  });
});
