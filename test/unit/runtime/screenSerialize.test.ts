import assert from 'node:assert/strict';
import { Screen } from '../../../src/runtime/sessions/screen.ts';

const size = { columns: 80, rows: 24 };

describe('Screen.serialize()', () => {
  it('gives what was written before the call and nothing that was written after it', async () => {
    const screen = new Screen({ size });
    screen.write(Buffer.from('before\r\n'));
    const shown = screen.serialize();
    screen.write(Buffer.from('after\r\n'));
    assert.match(await shown, /before/);
    assert.doesNotMatch(await shown, /after/);
    assert.match(await screen.serialize(), /before[^]*after/);
    screen.dispose();
  });

  it('answers while output keeps coming', async () => {
    const screen = new Screen({ size });
    const flood = setInterval(() => screen.write(Buffer.from('flood '.repeat(5000))), 0);
    try {
      screen.write(Buffer.from('start\r\n'));
      assert.match(await screen.serialize(), /start/);
    } finally {
      clearInterval(flood);
      await screen.serialize();
      screen.dispose();
    }
  });

  it('answers when the place in question was dropped from an overlong backlog', async () => {
    const screen = new Screen({ size });
    screen.write(Buffer.from('early\r\n'));
    const shown = screen.serialize();
    for (let i = 0; i < 200; i += 1) {
      screen.write(Buffer.from('x'.repeat(64 * 1024)));
    }
    assert.equal(typeof (await shown), 'string');
    await screen.serialize();
    screen.dispose();
  });
});
