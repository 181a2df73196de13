import { randomUUID } from 'node:crypto';
import type { Log } from '../../../base/log.ts';
import { silentLog } from '../../../base/log.ts';
import type { Span } from '../../../base/telemetry.ts';
import { failSpan, startSpan } from '../../../base/telemetry.ts';
import { traceProcess } from '../../exec/traceProcess.ts';
import type { Result } from '../../../base/result.ts';
import { fail, ok } from '../../../base/result.ts';
import type { SandboxType } from '../../../sandbox/sandboxManager.ts';
import type {
  ExecBackend,
  ExecProcess,
  FoundProcess,
  StartError,
  StartParams,
} from '../../exec/execBackend.ts';
import { RpcError } from '../protocol/errors.ts';
import type { ParamsFor, ResultOf } from '../protocol/methods.ts';
import type { ExecClient } from './execClient.ts';
import { ConnectionLost } from './execClient.ts';
import type { RemoteProcess } from './remoteProcess.ts';
import { RemoteProcesses } from './remoteProcesses.ts';
import { startErrorOf } from './startError.ts';
import { startParamsFor } from './startParams.ts';
import type { ClientTiming } from './timing.ts';
import { TunnelledConnection } from './tunnelledConnection.ts';

export interface RemoteBackendOptions {
  /** The session that is there, or a new one. Called for every start. */
  readonly connect: () => Promise<Result<ExecClient, { readonly message: string; readonly hint: string }>>;
  readonly log?: Log;
  readonly timing?: Partial<ClientTiming>;
}

/** Runs commands on the machine of an exec-server, Cordon's own or another, under the policy that each asks for. */
export class RemoteBackend implements ExecBackend {
  readonly #options: RemoteBackendOptions;
  readonly #sessions = new WeakMap<ExecClient, RemoteProcesses>();
  #started = 0;

  constructor(options: RemoteBackendOptions) {
    this.#options = options;
  }

  async start(params: StartParams): Promise<Result<ExecProcess, StartError>> {
    const connected = await this.#options.connect();
    if (!connected.ok) {
      const { message, hint } = connected.error;
      return fail({ kind: 'spawn-failed', message, hint });
    }
    const client = connected.value;
    const processId = `${++this.#started}-${randomUUID()}`;
    const request = startParamsFor(client, processId, params);
    if (!request.ok) {
      return request;
    }
    const span = startSpan('process', { attributes: { 'cordon.process': processId } });
    const processes = this.#processesOf(client);
    const process = processes.add(processId, {
      isTty: params.tty !== undefined,
      hasInput: params.pipeStdin === true,
      door: params.door,
    });
    try {
      const sandbox = sandboxOf(await startOnce(client, request.value, span), request.value);
      span.setAttribute('cordon.sandbox', sandbox);
      traceProcess(span, process);
      if (params.streams instanceof TunnelledConnection) {
        params.streams.ended();
      }
      process.started(sandbox);
      return ok(process);
    } catch (cause) {
      processes.remove(processId);
      failSpan(span, cause);
      span.end();
      return fail(startErrorOf(cause, params));
    }
  }

  async found(): Promise<readonly FoundProcess[]> {
    const connected = await this.#options.connect();
    if (!connected.ok || !connected.value.isCordon) {
      return [];
    }
    const client = connected.value;
    const { processes } = await client.call('cordon/process/list', {});
    const attached = await Promise.all(
      processes.map(async (listed) => {
        const process = this.#processesOf(client).add(listed.processId, {
          isTty: listed.tty,
          hasInput: listed.pipeStdin,
        });
        process.open();
        await process.fetch();
        process.started(listed.launcher);
        return { process, label: listed.label };
      }),
    );
    return attached.map(({ process, label }) => found(process, label));
  }

  #processesOf(client: ExecClient): RemoteProcesses {
    const { log = silentLog, timing } = this.#options;
    const known = this.#sessions.get(client) ?? new RemoteProcesses(client, log, timing);
    this.#sessions.set(client, known);
    return known;
  }
}

function found(process: RemoteProcess, label: string): FoundProcess {
  return { process, retained: process.readNow({ afterSeq: 0 }), label };
}

/** So often a start is sent again whose answer was lost with the connection. */
const mostStarts = 3;

/**
 * Starts it once, although nobody can know whether a request whose answer was lost has arrived: on the next connection
 * the server refuses the id if it has.
 */
async function startOnce(
  client: ExecClient,
  request: ParamsFor<'process/start'>,
  span: Span,
): Promise<ResultOf<'process/start'>> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await client.call('process/start', request, { span });
    } catch (cause) {
      if (attempt > 1 && cause instanceof RpcError && cause.message.includes('already exists')) {
        return { processId: request.processId };
      }
      if (!(cause instanceof ConnectionLost) || client.state.kind === 'lost' || attempt === mostStarts) {
        throw cause;
      }
    }
  }
}

/** What confines it; the word of the protocol where it is not Cordon's own launcher. */
function sandboxOf(
  { sandboxType, cordon }: ResultOf<'process/start'>,
  request: ParamsFor<'process/start'>,
): SandboxType {
  if (cordon !== undefined) {
    return cordon.launcher;
  }
  const isAsked = request.sandbox != null || (request.cordon?.policy?.mode ?? unconfined) !== unconfined;
  const isConfined = sandboxType === undefined ? isAsked : sandboxType !== 'none';
  return isConfined ? 'bubblewrap' : 'none';
}

const unconfined = 'danger-full-access';
