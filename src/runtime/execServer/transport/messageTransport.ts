import type { Event } from '../../../base/event.ts';

/**
 * Carries whole messages of text both ways, in order. A new way to reach a server is a new file that makes one of
 * these. It starts paused: nothing arrives before `resume`, so that no listener comes too late.
 */
export interface MessageTransport {
  /** As errors about messages call it: `exec-server websocket 127.0.0.1:4711`, `exec-server stdio`. */
  readonly name: string;
  readonly onMessage: Event<string>;
  /** Once, whoever closed it; what was sent but not delivered is lost. */
  readonly onClose: Event<TransportEnd>;
  /** After `bufferedBytes` was above the writer's limit and has become small. */
  readonly onDrain: Event<void>;
  /** What waits to be taken by the other side, in bytes. */
  readonly bufferedBytes: number;
  /**
   * Text, or its bytes in UTF-8, which nobody changes before `taken` is called: when the system has them. It is not
   * called when they could not be delivered.
   */
  send(message: string | Uint8Array, taken?: () => void): void;
  pause(): void;
  resume(): void;
  /** Ends it without ceremony: what the protocol does on a violation. */
  close(): void;
}

export interface TransportEnd {
  /** Absent when the other side just went away or this one closed it. */
  readonly reason?: string;
}
