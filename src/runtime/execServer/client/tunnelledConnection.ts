import { Duplex } from 'node:stream';
import type { ExecClient } from './execClient.ts';

/** More than anybody says before it is read. */
const maxUnread = 256 * 1024;

/**
 * The connection of a program that asks, on the machine of an exec-server: what is written goes there, and what comes
 * from there is read. However it ends, it does so without an error.
 */
export class TunnelledConnection extends Duplex {
  readonly client: ExecClient;
  readonly id: string;
  #isOpen = true;

  constructor(client: ExecClient, id: string) {
    super({ allowHalfOpen: false });
    this.client = client;
    this.id = id;
  }

  receive(bytes: Buffer): void {
    this.push(bytes);
    if (this.readableLength > maxUnread) {
      this.destroy();
    }
  }

  /** It is over on the other side, or belongs to somebody else there. */
  ended(): void {
    this.#isOpen = false;
    this.destroy();
  }

  override _read(): void {
    // What comes is pushed.
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    const params = { connectionId: this.id, chunk: chunk.toString('base64') };
    const giveUp = (): void => void this.destroy();
    void this.client
      .call('cordon/door/send', params)
      .catch(giveUp)
      .then(() => done());
  }

  override _final(done: () => void): void {
    this.#close();
    done();
  }

  override _destroy(_error: Error | null, done: () => void): void {
    this.#close();
    done();
  }

  #close(): void {
    if (this.#isOpen) {
      this.#isOpen = false;
      // Whoever does not know it any more has closed it.
      this.client.call('cordon/door/close', { connectionId: this.id }).catch(() => {});
    }
  }
}
