import assert from 'node:assert/strict';
import {
  argumentMemory,
  maxArguments,
  tooManyArguments,
} from '../../../src/sandbox/linux/bubblewrap/argumentLimits.ts';

describe('tooManyArguments()', () => {
  const before = ['/launch', '--outer', '--', '/bwrap'];
  const refusal = (argv: readonly string[], command: readonly string[] = []) =>
    tooManyArguments([...before, ...argv, '--', ...command], '/bwrap', { argv: command, env: {} }, '/root')
      ?.message;

  it('counts what bubblewrap is given, not what comes before', () => {
    assert.equal(refusal(Array<string>(maxArguments).fill('x')), undefined);
    assert.match(
      refusal(Array<string>(maxArguments + 1).fill('x')) ?? '',
      /in \/root .*9001 arguments.*9000/,
    );
  });

  it('counts bytes as the kernel does', () => {
    const limit = argumentMemory(
      'Max stack size            unlimited            unlimited            bytes\n',
    );
    const long = Array<string>(64).fill('x'.repeat(limit / 64));
    assert.match(refusal(long) ?? '', /bytes of arguments, and the kernel takes \d+/);
    assert.equal(refusal(long.slice(0, 1)), undefined);
  });

  it('leaves a command that is too long by itself to the kernel', () => {
    assert.equal(refusal([], Array<string>(64).fill('x'.repeat(200_000))), undefined);
  });
});

describe('argumentMemory()', () => {
  const line = (soft: string): string =>
    `Max stack size            ${soft}              unlimited            bytes`;

  it('is a quarter of the stack, from 128 KiB to 6 MiB', () => {
    assert.equal(argumentMemory(`Limit  Soft\n${line('8388608')}\n`), 2 * 1024 * 1024);
    assert.equal(argumentMemory(line('unlimited')), 6 * 1024 * 1024);
    assert.equal(argumentMemory(line('1024')), 128 * 1024);
  });
});
