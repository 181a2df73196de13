import assert from 'node:assert/strict';
import { fail, ok } from '../../../src/base/result.ts';
import { importPreviewPage } from '../../../src/ui/importPreview.ts';
import type { ImportPreview } from '../../../src/ui/importPreview.ts';

const preview: ImportPreview = {
  program: 'Codex',
  place: '~/.codex/config.toml',
  policy: {
    name: 'tight',
    isInUse: true,
    settings: { mode: 'read-only' },
    notes: [{ what: ':slash_tmp', why: 'Own folder.' }],
  },
  profileName: 'codex',
  previous: '',
  widenings: ok([{ clause: 'network', what: 'off → on' }]),
};

describe('the preview of an import', () => {
  it('shows exactly what would be set, what becomes wider and what is lost', () => {
    const page = importPreviewPage(preview);
    const [, json = ''] = /```json\n(.*?)\n```/s.exec(page) ?? [];
    assert.deepEqual(JSON.parse(json), {
      'cordon.sandbox.profile': 'codex',
      'cordon.sandbox.profiles': { codex: { mode: 'read-only' } },
    });
    assert.match(page, /\| network \| off → on \|/);
    assert.match(page, /- `:slash_tmp`: Own folder\./);
    assert.match(page, /is added, and chosen\. /);
  });

  it('says when nothing becomes wider or is lost, and names the profile that is replaced', () => {
    const page = importPreviewPage({
      ...preview,
      previous: 'mine',
      policy: { ...preview.policy, notes: [] },
      widenings: ok([]),
    });
    assert.match(page, /commands may do no more than now/);
    assert.match(page, /the profile says everything/);
    assert.match(page, /in place of “mine”/);
  });

  it('says why a profile would not be valid', () => {
    const widenings = fail({ field: 'x', message: 'x is 3.', hint: 'Correct it.' });
    assert.match(importPreviewPage({ ...preview, widenings }), /cannot be applied\. x is 3\. Correct it\./);
  });
});
