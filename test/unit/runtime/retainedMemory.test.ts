import assert from 'node:assert/strict';
import { EventWindow } from '../../../src/runtime/exec/eventWindow.ts';
import { HeadTailBuffer } from '../../../src/runtime/sessions/headTailBuffer.ts';
import { collectGarbage } from '../../harness/collectGarbage.ts';

const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;

/** How much more memory of buffers is held after the work. */
function held(work: () => object): number {
  collectGarbage();
  const before = process.memoryUsage().arrayBuffers;
  const keeper = work();
  collectGarbage();
  const growth = process.memoryUsage().arrayBuffers - before;
  assert.ok(keeper);
  return growth;
}

const chunkOf = (bytes: number, ofBuffer = bytes): Uint8Array =>
  new Uint8Array(new ArrayBuffer(ofBuffer), 0, bytes);

describe('what is kept of a long output', () => {
  for (const [name, bytes, ofBuffer] of [
    ['large chunks', 64 * kibibyte, 64 * kibibyte],
    ['small parts of large buffers', 512, 64 * kibibyte],
  ] as const) {
    const count = Math.floor((20 * mebibyte) / ofBuffer) * 4;

    it(`holds little more memory than its window: ${name}`, () => {
      const growth = held(() => {
        const window = new EventWindow();
        for (let index = 0; index < count; index++) {
          window.output('stdout', chunkOf(bytes, ofBuffer));
        }
        return window;
      });
      assert.ok(growth < 2 * mebibyte, `${growth} bytes`);
    });

    it(`holds little more memory than head and tail: ${name}`, () => {
      const window = new EventWindow();
      const growth = held(() => {
        const buffer = new HeadTailBuffer();
        window.onEvent((event) => {
          if (event.kind === 'output') {
            buffer.push(event.chunk);
          }
        });
        for (let index = 0; index < count; index++) {
          window.output('stdout', chunkOf(bytes, ofBuffer));
        }
        return buffer;
      });
      assert.ok(growth < 4 * mebibyte, `${growth} bytes`);
    });
  }
});
