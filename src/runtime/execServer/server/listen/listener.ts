import type { MessageTransport } from '../../transport/messageTransport.ts';

/** Takes new clients. A new way to listen is a file that makes one of these, and a line in `parseListen.ts`. */
export interface Listener {
  /** What is printed for whoever wants to connect; absent when there is nothing to say. */
  readonly address?: string;
  /** Resolves when no client can come any more, whoever ended it. */
  readonly ended: Promise<void>;
  /** Takes no more clients; those that are there stay. */
  close(): Promise<void>;
}

export type Accept = (transport: MessageTransport) => void;

/** Of one inbound message, on every transport. */
export const maxMessageBytes = 64 * 1024 * 1024;
