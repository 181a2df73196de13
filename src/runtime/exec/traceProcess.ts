import type { Span } from '../../base/telemetry.ts';
import { failSpan } from '../../base/telemetry.ts';
import type { ExecProcess } from './execBackend.ts';

/** Ends a span with a process, with its first byte and its exit on the way. Call it before events can arrive. */
export function traceProcess(span: Span, process: Pick<ExecProcess, 'onEvent'>): void {
  if (!span.isRecording()) {
    span.end();
    return;
  }
  let hasOutput = false;
  const listening = process.onEvent((event) => {
    switch (event.kind) {
      case 'output':
        if (!hasOutput) {
          hasOutput = true;
          span.addEvent('first byte');
        }
        break;
      case 'gap':
        span.addEvent('gap', { from: event.fromSeq, to: event.seq });
        break;
      case 'exited':
        span.addEvent('exit');
        span.setAttributes({
          'process.exit.code': event.exitCode,
          'cordon.sandbox_denied': event.sandboxDenied,
        });
        if (event.failure !== undefined) {
          failSpan(span, event.failure);
        }
        break;
      case 'closed':
        span.end();
        // Not while the listeners are being told.
        queueMicrotask(() => listening.dispose());
        break;
    }
  });
}
