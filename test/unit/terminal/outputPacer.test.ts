import assert from 'node:assert/strict';
import { defaultPacerLimits, OutputPacer } from '../../../src/terminal/outputPacer.ts';
import { FakeClock } from './fakeClock.ts';

const limits = {
  ...defaultPacerLimits,
  writeBytes: 10,
  bytesPerSecond: 1000,
  backlogBytes: 100,
  tailBytes: 20,
};

function paced(use: Partial<typeof limits> = {}) {
  const clock = new FakeClock();
  const shown: { readonly at: number; readonly text: string }[] = [];
  const pacer = new OutputPacer(
    {
      write: (bytes) => void shown.push({ at: clock.now(), text: Buffer.from(bytes).toString('latin1') }),
      gap: (droppedBytes) => void shown.push({ at: clock.now(), text: `<${droppedBytes}>` }),
    },
    { ...limits, ...use },
    clock,
  );
  const push = (text: string): void => pacer.push(Buffer.from(text, 'latin1'));
  return { clock, pacer, shown, push, text: () => shown.map((entry) => entry.text).join('') };
}

describe('OutputPacer', () => {
  it('holds everything back until it is released, then keeps the order', () => {
    const { clock, pacer, shown, push, text } = paced();
    push('ab');
    clock.advance(1000);
    assert.deepEqual(shown, []);
    pacer.release();
    push('cd');
    clock.advance(1000);
    assert.equal(text(), 'abcd');
  });

  it('coalesces small pieces into one write per interval', () => {
    const { clock, pacer, shown, push } = paced();
    pacer.release();
    push('a');
    clock.advance(0);
    push('b');
    push('c');
    clock.advance(15);
    assert.deepEqual(shown, [{ at: 0, text: 'a' }]);
    clock.advance(1);
    assert.deepEqual(shown[1], { at: 16, text: 'bc' });
  });

  it('splits a long piece and keeps to the sustained rate', () => {
    const { clock, pacer, shown, push, text } = paced({ bytesPerSecond: 100 });
    pacer.release();
    push('x'.repeat(35));
    clock.advance(10_000);
    assert.equal(text(), 'x'.repeat(35));
    assert.deepEqual(
      shown.map((entry) => entry.at),
      [0, 100, 200, 300],
    );
  });

  it('drops the older part of an overlong backlog up to a line end and tells how much', () => {
    const { clock, pacer, push, text } = paced();
    pacer.release();
    push('1st\n');
    clock.advance(16);
    push(`${'line\n'.repeat(30)}end`);
    clock.advance(10_000);
    assert.equal(text(), `1st\n<135>${'line\n'.repeat(3)}end`);
    assert.equal(pacer.droppedBytes, 135);
  });

  it('cuts inside a line when the tail has no line end', () => {
    const { clock, pacer, push, text } = paced();
    pacer.release();
    push('y'.repeat(150));
    clock.advance(10_000);
    assert.equal(text(), `<130>${'y'.repeat(20)}`);
  });

  it('loses nothing from a source that stays under the rate', () => {
    const { clock, pacer, push, text } = paced();
    pacer.release();
    let all = '';
    for (let i = 0; i < 500; i += 1) {
      all += `${i}\n`;
      push(`${i}\n`);
      clock.advance(16);
    }
    clock.advance(10_000);
    assert.equal(text(), all);
  });

  it('shows at most four gaps a second in a flood, and ends with its last bytes', () => {
    const { clock, pacer, shown, push, text } = paced();
    pacer.release();
    let count = 0;
    for (let i = 0; i < 1000; i += 1) {
      push('flood\n'.repeat(40));
      count += 240;
      clock.advance(1);
    }
    push('last');
    clock.advance(10_000);
    const gaps = shown.filter((entry) => entry.text.startsWith('<'));
    assert.ok(gaps.length >= 3 && gaps.length <= 6, `${gaps.length} gaps`);
    assert.ok(text().endsWith('flood\nlast'));
    const shownBytes = text().replace(/<\d+>/g, '').length;
    assert.equal(shownBytes + pacer.droppedBytes, count + 4);
  });

  it('calls back once everything is written, at once when nothing waits', () => {
    const { clock, pacer, push, text } = paced();
    pacer.release();
    push('z'.repeat(25));
    let seen: string | undefined;
    pacer.onceDrained(() => (seen = text()));
    clock.advance(1000);
    assert.equal(seen, 'z'.repeat(25));
    let isCalled = false;
    pacer.onceDrained(() => (isCalled = true));
    assert.ok(isCalled);
  });

  it('leaves no timer behind when it is disposed', () => {
    const { clock, pacer, shown, push } = paced();
    pacer.release();
    push('a');
    pacer.dispose();
    clock.advance(1000);
    assert.equal(clock.pending, 0);
    assert.deepEqual(shown, []);
  });
});
