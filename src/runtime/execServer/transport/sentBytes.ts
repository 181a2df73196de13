import { Emitter } from '../../../base/event.ts';
import type { Event } from '../../../base/event.ts';

/** Above it a transport counts as full; when it is below again, who waits is told. */
const lowWater = 256 * 1024;

/** Tells when what waits to be sent has become little. */
export class SentBytes {
  readonly #drained = new Emitter<void>();
  readonly onDrain: Event<void> = this.#drained.event;
  #wasAbove = false;

  /** After something was sent. */
  added(bufferedBytes: number): void {
    this.#wasAbove ||= bufferedBytes > lowWater;
  }

  /** After something was taken. */
  taken(bufferedBytes: number): void {
    if (this.#wasAbove && bufferedBytes <= lowWater) {
      this.#wasAbove = false;
      this.#drained.fire();
    }
  }
}
