import type { Attributes, Context, Span } from '@opentelemetry/api';
import { isSpanContextValid, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';

/** W3C trace context, as it goes over the wire. */
export interface TraceContext {
  readonly traceparent?: string | undefined;
  readonly tracestate?: string | undefined;
}

export interface SpanOptions {
  /** `client` and `server` are the two ends of a call over the wire. */
  readonly kind?: 'internal' | 'client' | 'server';
  /** The span of this program or, as it came over the wire, of another one that this is a part of. */
  readonly parent?: Span | TraceContext | undefined;
  readonly attributes?: Attributes;
}

export type { Span };

const kinds = { internal: SpanKind.INTERNAL, client: SpanKind.CLIENT, server: SpanKind.SERVER } as const;

/** Begins a span; whoever does ends it. Costs next to nothing while nobody collects spans. */
export function startSpan(name: string, { kind = 'internal', parent, attributes }: SpanOptions = {}): Span {
  return trace
    .getTracer('cordon')
    .startSpan(name, { kind: kinds[kind], ...(attributes && { attributes }) }, contextOf(parent));
}

/** A span for as long as something runs, marked as failed when it throws. */
export async function inSpan<T>(
  name: string,
  options: SpanOptions,
  run: (span: Span) => T | Promise<T>,
): Promise<T> {
  const span = startSpan(name, options);
  try {
    return await run(span);
  } catch (cause) {
    failSpan(span, cause);
    throw cause;
  } finally {
    span.end();
  }
}

export function failSpan(span: Span, cause: unknown): void {
  span.setStatus({
    code: SpanStatusCode.ERROR,
    message: cause instanceof Error ? cause.message : String(cause),
  });
}

/** What to send along so that the other side's spans become parts of this one; undefined when nobody collects. */
export function traceContextOf(span: Span): TraceContext | undefined {
  const context = span.spanContext();
  if (!isSpanContextValid(context)) {
    return undefined;
  }
  const flags = context.traceFlags.toString(16).padStart(2, '0');
  const tracestate = context.traceState?.serialize();
  return {
    traceparent: `00-${context.traceId}-${context.spanId}-${flags}`,
    ...(tracestate !== undefined && tracestate !== '' && { tracestate }),
  };
}

function contextOf(parent: SpanOptions['parent']): Context {
  if (parent === undefined) {
    return ROOT_CONTEXT;
  }
  if ('spanContext' in parent) {
    return trace.setSpan(ROOT_CONTEXT, parent);
  }
  const [, traceId, spanId, flags] = traceparentForm.exec(parent.traceparent ?? '') ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) {
    return ROOT_CONTEXT;
  }
  const context = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return isSpanContextValid(context) ? trace.setSpanContext(ROOT_CONTEXT, context) : ROOT_CONTEXT;
}

const traceparentForm = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;
