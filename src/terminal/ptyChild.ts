import { writeSync } from 'node:fs';
import type { ReadStream } from 'node:tty';
import { Emitter } from '../base/event.ts';
import type { ChildExit, ChildHandle, ChildOutput, ChildSpec, TerminalSize } from './childHandle.ts';
import { maxPendingInput } from './childHandle.ts';
import { destroyWhenRead } from './destroyWhenRead.ts';
import { loadNodePty } from './nodePty.ts';
import { signalName } from './processGroup.ts';

/**
 * Starts a child on a pseudoterminal of its own: session leader, controlling terminal, normal line discipline.
 * Rejects when the native part cannot be loaded or the pseudoterminal cannot be made.
 */
export async function startPtyChild(spec: ChildSpec & { readonly size: TerminalSize }): Promise<ChildHandle> {
  const [file, ...args] = spec.argv;
  const { spawn } = await loadNodePty();
  const pty = spawn(file, args, {
    name: spec.env['TERM'] ?? 'xterm-256color',
    cols: spec.size.columns,
    rows: spec.size.rows,
    cwd: spec.cwd,
    env: { ...spec.env },
    // Raw bytes: decoding belongs to the readers, who know where characters end.
    encoding: null,
  });
  const pending = () => pendingInput(pty);
  keepUnreadOutput(pty);
  const output = new Emitter<ChildOutput>();
  const exited = new Emitter<ChildExit>();
  const drained = new Emitter<void>();
  const state = { hasExited: false };

  pty.onData((data: string | Uint8Array) => {
    output.fire({ stream: 'pty', chunk: typeof data === 'string' ? Buffer.from(data) : data });
  });
  // node-pty reports the exit after the terminal's other end is closed, or 200 ms later at most.
  pty.onExit(({ exitCode, signal }) => {
    state.hasExited = true;
    const name = signal === undefined ? undefined : signalName(signal);
    exited.fire(name === undefined ? { exitCode } : { exitCode: 128 + (signal ?? 0), signal: name });
    drained.fire();
  });

  return {
    pid: pty.pid,
    onOutput: output.event,
    onExit: exited.event,
    onDrained: drained.event,
    write: (bytes) => {
      if (state.hasExited) {
        return false;
      }
      const rest = pending() > 0 ? bytes : bytes.subarray(writeAtOnce(pty, bytes));
      if (rest.byteLength > 0) {
        pty.write(Buffer.from(rest));
      }
      return true;
    },
    endInput: () => pty.write('\x04'),
    resize: ({ columns, rows }) => {
      if (!state.hasExited) {
        pty.resize(columns, rows);
      }
    },
    pause: () => {
      if (!state.hasExited) {
        pty.pause();
      }
    },
    resume: () => {
      if (!state.hasExited) {
        pty.resume();
      }
    },
    whenWritable: async () => {
      while (!state.hasExited && pending() > maxPendingInput) {
        await new Promise((resolve) => setTimeout(resolve, pollInputMs));
      }
    },
    // When the leader of its session ends, a terminal is taken from everybody.
    endDrain: () => {},
  };
}

/** What people type; more than that may well have to wait. */
const maxAtOnce = 1024;

/** Writes what the terminal takes without waiting: it does not block, and node-pty writes in another thread. */
function writeAtOnce(pty: object, bytes: Uint8Array): number {
  const { _socket: socket, _fd: fd } = pty as Inside;
  // Once the socket is gone, the number may be that of something else.
  if (fd === undefined || socket?.destroyed !== false || bytes.byteLength > maxAtOnce) {
    return 0;
  }
  try {
    return writeSync(fd, bytes);
  } catch {
    // The terminal is full, or has failed: node-pty waits, or says so.
    return 0;
  }
}

/** How often it is looked whether a child has read what was written for it: node-pty does not tell. */
const pollInputMs = 20;

/** What of node-pty is not public: the exact version is pinned, and tested. */
interface Inside {
  readonly _fd?: number;
  readonly _socket?: ReadStream;
  readonly _writeStream?: {
    _writeQueue: { readonly buffer: Uint8Array; readonly offset: number }[];
    dispose(): void;
  };
}

function pendingInput(pty: object): number {
  const queue = (pty as Inside)._writeStream?._writeQueue ?? [];
  return queue.reduce((sum, { buffer, offset }) => sum + buffer.byteLength - offset, 0);
}

/**
 * node-pty destroys its socket 200 ms after the exit, whether or not everything was read; while the event loop is
 * busy that loses the end of the output. What nobody has read of the input goes with it: node-pty would go on to
 * write it to a descriptor that may be something else by then.
 */
function keepUnreadOutput(pty: object): void {
  const { _socket: socket, _writeStream: input } = pty as Inside;
  if (socket === undefined) {
    return;
  }
  const destroy = socket.destroy.bind(socket);
  socket.destroy = (error) => {
    if (input !== undefined) {
      input.dispose();
      input._writeQueue.length = 0;
    }
    if (error === undefined && !socket.readableEnded) {
      destroyWhenRead(socket, destroy);
    } else {
      destroy(error);
    }
    return socket;
  };
}
