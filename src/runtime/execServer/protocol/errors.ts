/** Codes of the exec-server protocol's errors. */
export const errorCodes = {
  /** Handshake order, unknown session, duplicate or unknown process, bad state, several file errors; malformed messages. */
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  /** Params do not decode, or fail validation. */
  invalidParams: -32_602,
  /** Spawn failures, most I/O errors, network errors. */
  internal: -32_603,
  /** Files and file handles. */
  notFound: -32_004,
  /** The session to resume is attached to another connection: the one error that is worth another try. */
  sessionAttached: -32_010,
} as const;

export interface RpcErrorBody {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** What a handler throws to answer with an error, and what a client's call rejects with. */
export class RpcError extends Error {
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.name = 'RpcError';
    this.code = code;
    this.data = data;
  }
}
