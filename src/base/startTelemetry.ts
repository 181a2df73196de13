import type { Log } from './log.ts';

/** Where collected spans go, until it is told to stop, which sends what is left. */
export interface SpanExport {
  stop(): Promise<void>;
}

/**
 * Sends spans to a collector when the environment names one (`OTEL_EXPORTER_OTLP_ENDPOINT`, or the same with
 * `_TRACES_`); otherwise nothing is loaded. A bundle without that part, or a collector that is not there, costs a line
 * in the log.
 */
export async function startTelemetry(
  serviceName: string,
  version: string,
  log: Log,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<SpanExport> {
  const endpoint =
    environment['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] || environment['OTEL_EXPORTER_OTLP_ENDPOINT'];
  if (!endpoint || environment['OTEL_SDK_DISABLED']?.toLowerCase() === 'true') {
    return nothingToStop;
  }
  try {
    const { exportSpans } = await import('./telemetrySdk.ts');
    log.info(`Spans are sent to ${endpoint}.`);
    return exportSpans(environment['OTEL_SERVICE_NAME'] || serviceName, version);
  } catch (cause) {
    log.warn(
      `Spans cannot be sent to ${endpoint}: ${cause instanceof Error ? cause.message : String(cause)}`,
    );
    return nothingToStop;
  }
}

const nothingToStop: SpanExport = { stop: () => Promise.resolve() };
