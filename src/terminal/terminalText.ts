/**
 * Turns the bytes of a session into what a terminal shows: characters that were split between two
 * chunks come out whole, invalid bytes become U+FFFD, and without a tty each LF also returns the carriage.
 */
export class TerminalText {
  readonly #isTty: boolean;
  #decoder = newDecoder();
  #endedWithCr = false;

  constructor(isTty: boolean) {
    this.#isTty = isTty;
  }

  decode(bytes: Uint8Array): string {
    const text = this.#decoder.decode(bytes, { stream: true });
    if (this.#isTty || text === '') {
      return text;
    }
    const first = this.#endedWithCr && text.startsWith('\n') ? '\n' : '';
    this.#endedWithCr = text.endsWith('\r');
    return first + text.slice(first.length).replace(/(?<!\r)\n/g, '\r\n');
  }

  /** Forgets half a character: what comes next does not continue what came before. */
  reset(): void {
    this.#decoder = newDecoder();
    this.#endedWithCr = false;
  }
}

function newDecoder(): InstanceType<typeof TextDecoder> {
  return new TextDecoder('utf-8', { ignoreBOM: true });
}
