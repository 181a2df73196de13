import * as z from 'zod';
import type { RpcErrorBody } from './errors.ts';

/** A string, or a signed 64-bit integer. */
export type RequestId = string | number;

/** W3C trace context of a request: it only parents the other side's spans. */
export interface Trace {
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
}

/** JSON-RPC 2.0 without its `jsonrpc` member, one message at a time. */
export type Message =
  | {
      readonly kind: 'request';
      readonly id: RequestId;
      readonly method: string;
      readonly params: unknown;
      readonly trace?: Trace | undefined;
    }
  | { readonly kind: 'notification'; readonly method: string; readonly params: unknown }
  | { readonly kind: 'response'; readonly id: RequestId; readonly result: unknown }
  | { readonly kind: 'error'; readonly id: RequestId; readonly error: RpcErrorBody };

const id = z.union([z.string(), z.int()]);
const trace = z
  .object({ traceparent: z.unknown().optional(), tracestate: z.unknown().optional() })
  .nullish()
  .transform((value): Trace | undefined => {
    const { traceparent, tracestate } = value ?? {};
    return typeof traceparent === 'string'
      ? { traceparent, ...(typeof tracestate === 'string' && { tracestate }) }
      : undefined;
  });
const method = z.string();
const params = z.unknown().optional();
const envelope = z.union([
  z.object({ id, method, params, trace }).transform((fields) => ({ kind: 'request' as const, ...fields })),
  z
    .object({ id: z.undefined().optional(), method, params })
    .transform((fields) => ({ kind: 'notification' as const, method: fields.method, params: fields.params })),
  z
    .object({
      id,
      error: z.object({ code: z.int(), message: z.string(), data: z.unknown().optional() }),
    })
    .transform((fields) => ({ kind: 'error' as const, ...fields })),
  z
    .object({ id, result: z.unknown() })
    .refine((fields) => 'result' in fields)
    .transform((fields) => ({ kind: 'response' as const, ...fields })),
]);

/** Reads one message; undefined when it is none. Unknown members are ignored. */
export function parseMessage(text: string): Message | undefined {
  try {
    const parsed = envelope.safeParse(JSON.parse(text));
    return parsed.success ? (parsed.data as Message) : undefined;
  } catch {
    return undefined;
  }
}
