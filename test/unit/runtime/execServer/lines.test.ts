import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { linesTransport } from '../../../../src/runtime/execServer/transport/lines.ts';

describe('messages as lines', () => {
  it('end the connection when they are longer than any string, instead of the program', () => {
    const input = new PassThrough();
    const transport = linesTransport(input, new PassThrough(), 'far');
    const ends: unknown[] = [];
    transport.onClose((end) => ends.push(end));
    transport.resume();
    const part = Buffer.alloc(64 * 1024 * 1024, 'x');
    for (let count = 0; count < 9; count++) {
      input.emit('data', part);
    }
    assert.match(JSON.stringify(ends), /^\[\{"reason":"a line is longer than \d+ bytes"\}\]$/);
    input.emit('data', Buffer.from('\n'));
  });
});
