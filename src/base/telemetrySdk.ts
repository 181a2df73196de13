import { trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { SpanExport } from './startTelemetry.ts';

/** Spans that are lost are better than a program that waits to end. */
const stopTimeoutMs = 2_000;

/** Collects every span of this program from now on. In a bundle of its own: it is large, and hardly anybody needs it. */
export function exportSpans(serviceName: string, version: string): SpanExport {
  // It reads where to, with which headers and how long from the environment.
  const exporter = new OTLPTraceExporter();
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': serviceName,
      'service.version': version,
      'process.pid': process.pid,
    }),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  trace.setGlobalTracerProvider(provider);
  return {
    async stop() {
      trace.disable();
      const timer = Promise.withResolvers<void>();
      const timeout = setTimeout(timer.resolve, stopTimeoutMs);
      await Promise.race([provider.shutdown().catch(() => {}), timer.promise]);
      clearTimeout(timeout);
    },
  };
}
