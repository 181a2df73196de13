import type { TestClient, WireMessage } from './execServer.ts';
import { waitFor } from './waitFor.ts';

/** What came of one thing that was sent, without what differs from run to run. */
export type Transcript = Readonly<Record<string, unknown>>;

/** Texts that clients may read; all other messages are the server's own words. */
const agreedTexts =
  /^(client must |process .* already exists$|unknown (process id|session id) |exec-server stub does not )/;

/** Sends requests to one server and writes down what comes, field by field. */
export class Recorder {
  readonly client: TestClient;
  readonly folder: string;
  readonly #told: Record<string, unknown> = {};

  constructor(client: TestClient, folder: string) {
    this.client = client;
    this.folder = folder;
  }

  get transcript(): Transcript {
    return flatten(this.#told, this.folder);
  }

  note(label: string, value: unknown): void {
    this.#told[label] = value;
  }

  /** Notes the answer, result or error. */
  async call(label: string, method: string, params?: unknown): Promise<WireMessage> {
    const answer = await this.client.call(method, params as object);
    this.note(label, answerOf(answer));
    return answer;
  }

  /** Starts a process and notes the answer; when it starts, everything up to its end too. */
  async run(label: string, params: object, meanwhile?: (processId: string) => Promise<void>): Promise<void> {
    const { processId = label } = params as { readonly processId?: string };
    const start = { processId, cwd: this.uri(), env: { PATH: '/usr/bin:/bin' }, tty: false, ...params };
    const { error } = await this.call(`${label}: start`, 'process/start', start);
    if (error !== undefined) {
      return;
    }
    await meanwhile?.(processId);
    await this.client.closed(processId);
    this.note(`${label}: events`, eventsOf(this.client, processId));
  }

  /** Waits until the process has said that. */
  async said(processId: string, text: string): Promise<void> {
    await waitFor(`${processId} to say ${JSON.stringify(text)}`, () =>
      this.client.outputOf(processId).toString().includes(text),
    );
  }

  uri(name = ''): string {
    return `file://${this.folder}${name === '' ? '' : `/${name}`}`;
  }
}

function answerOf({ result, error }: WireMessage): unknown {
  if (error === undefined) {
    return result === undefined ? 'nothing' : joined(result);
  }
  const { code, data, message } = error;
  return { code, ...(data !== undefined && { data }), ...(agreedTexts.test(message) && { message }) };
}

/** Chunks joined per stream: where servers cut is theirs. Numbers are then those after the last chunk. */
function joined(result: Readonly<Record<string, unknown>>): unknown {
  const { chunks, nextSeq, ...rest } = result;
  if (!Array.isArray(chunks)) {
    return result;
  }
  const output = streams(chunks as readonly Chunk[]);
  const last = (chunks as readonly Chunk[]).at(-1)?.seq ?? 0;
  return { ...rest, ...output, afterTheLast: Number(nextSeq) - last };
}

interface Chunk {
  readonly seq: number;
  readonly stream: string;
  readonly chunk: string;
}

function streams(chunks: readonly Chunk[]): Readonly<Record<string, string>> {
  const all: Record<string, Buffer[]> = {};
  for (const { stream, chunk } of [...chunks].sort((a, b) => a.seq - b.seq)) {
    (all[stream] ??= []).push(Buffer.from(chunk, 'base64'));
  }
  return Object.fromEntries(
    Object.entries(all).map(([stream, parts]) => [stream, Buffer.concat(parts).toString()]),
  );
}

function eventsOf(client: TestClient, processId: string): unknown {
  const events = client.eventsOf(processId);
  const paramsOf = (method: string): readonly object[] =>
    events.filter((event) => event.method === method).map(({ params }) => params ?? {});
  const withoutNumber = (params: object): object => ({ ...params, seq: undefined, processId: undefined });
  const output = paramsOf('process/output') as readonly Chunk[];
  const numbers = events.map(({ params }) => Number(params?.['seq'])).sort((a, b) => a - b);
  return {
    ...streams(output),
    memberNames: [...new Set(output.flatMap((params) => Object.keys(params)))].sort(),
    exited: paramsOf('process/exited').map(withoutNumber),
    closed: paramsOf('process/closed').map(withoutNumber),
    hasAllNumbers: numbers.every((number, index) => number === index + 1),
    endsWith: events.at(-1)?.method,
  };
}

const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;

/** Every leaf by its path. */
function flatten(value: unknown, folder: string): Transcript {
  const leaves: Record<string, unknown> = {};
  const visit = (at: string, part: unknown): void => {
    if (Array.isArray(part) && part.length > 0) {
      part.forEach((item, index) => visit(`${at}[${index}]`, item));
    } else if (typeof part === 'object' && part !== null && Object.keys(part).length > 0) {
      Object.entries(part).forEach(([name, item]) => visit(at === '' ? name : `${at}.${name}`, item));
    } else if (part !== undefined) {
      leaves[at] =
        typeof part === 'string' ? part.replaceAll(folder, '<folder>').replaceAll(uuid, '<id>') : part;
    }
  };
  visit('', value);
  return leaves;
}
