import assert from 'node:assert/strict';
import { PassThrough, Writable } from 'node:stream';
import { linesTransport } from '../../../../src/runtime/execServer/transport/lines.ts';

/** Counts what would be system calls. */
class Counting extends Writable {
  readonly calls: string[] = [];

  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    this.calls.push(chunks.map(({ chunk }) => chunk.toString()).join(''));
    done();
  }
}

describe('what is sent before the event loop goes on', () => {
  it('takes one call', async () => {
    const output = new Counting();
    const transport = linesTransport(new PassThrough(), output, 'near');
    transport.send('1');
    transport.send('2');
    assert.deepEqual(output.calls, []);
    await new Promise((resolve) => setImmediate(resolve));
    transport.send('3');
    await new Promise((resolve) => setImmediate(resolve));
    assert.deepEqual(output.calls, ['1\n2\n', '3\n']);
  });

  it('is not lost when it is the last', () => {
    const output = new Counting();
    const transport = linesTransport(new PassThrough(), output, 'near');
    transport.send('bye');
    transport.close();
    assert.deepEqual(output.calls, ['bye\n']);
  });
});
