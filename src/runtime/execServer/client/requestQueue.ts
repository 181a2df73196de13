import type { MethodName } from '../protocol/methods.ts';
import { methods } from '../protocol/methods.ts';

/** A request of somebody who waits for its answer. */
export interface PendingRequest {
  readonly method: MethodName;
  readonly params: unknown;
  readonly trace: object | undefined;
  readonly resolve: (result: unknown) => void;
  readonly reject: (cause: unknown) => void;
  /** Nobody waits any more; an answer is still due when it was sent. */
  isGivenUp: boolean;
}

/** How many requests may wait for answers at once: the reference wedges on bursts, so it gets half (its §4.1). */
const window = { cordon: 64, other: 32 } as const;

/**
 * Requests on their way to one session: those that wait to be sent, and those in flight by their id. Cordon's own
 * server has a lane for control methods, which then wait behind nothing.
 */
export class RequestQueue {
  readonly #isCordon: boolean;
  readonly #waiting: PendingRequest[] = [];
  readonly #waitingControl: PendingRequest[] = [];
  readonly #inFlight = new Map<number, PendingRequest>();
  #controlInFlight = 0;
  #nextId = 1;

  constructor(isCordon: boolean) {
    this.#isCordon = isCordon;
  }

  get inFlight(): number {
    return this.#inFlight.size;
  }

  add(request: PendingRequest): void {
    this.#laneOf(request).push(request);
  }

  /** The next request that may be sent now, with its id; undefined when there is none or the window is full. */
  next(): { readonly id: number; readonly request: PendingRequest } | undefined {
    const request = this.#nextControl() ?? this.#nextOrdinary();
    if (request === undefined) {
      return undefined;
    }
    const id = this.#nextId++;
    this.#inFlight.set(id, request);
    return { id, request };
  }

  /** The request that an answer is for, which is then no longer in flight. */
  answered(id: unknown): PendingRequest | undefined {
    const request = typeof id === 'number' ? this.#inFlight.get(id) : undefined;
    if (request !== undefined) {
      this.#inFlight.delete(id as number);
      this.#controlInFlight -= this.#hasLane(request) ? 1 : 0;
    }
    return request;
  }

  /** The connection broke: what may be sent twice waits again, before everything else. Returns the rest. */
  interrupted(): readonly PendingRequest[] {
    const sent = [...this.#inFlight.values()].filter(({ isGivenUp }) => !isGivenUp);
    this.#inFlight.clear();
    this.#controlInFlight = 0;
    for (const request of sent.filter(({ method }) => isRepeatable(method)).reverse()) {
      this.#laneOf(request).unshift(request);
    }
    return sent.filter(({ method }) => !isRepeatable(method));
  }

  /** Everything that waits for an answer; nothing does afterwards. */
  drain(): readonly PendingRequest[] {
    const all = [...this.#inFlight.values(), ...this.#waitingControl, ...this.#waiting];
    this.#inFlight.clear();
    this.#controlInFlight = 0;
    this.#waiting.length = 0;
    this.#waitingControl.length = 0;
    return all.filter(({ isGivenUp }) => !isGivenUp);
  }

  #nextControl(): PendingRequest | undefined {
    if (this.#controlInFlight >= window.cordon) {
      return undefined;
    }
    const request = shiftWanted(this.#waitingControl);
    this.#controlInFlight += request === undefined ? 0 : 1;
    return request;
  }

  #nextOrdinary(): PendingRequest | undefined {
    const ordinary = this.#inFlight.size - this.#controlInFlight;
    return ordinary >= (this.#isCordon ? window.cordon : window.other)
      ? undefined
      : shiftWanted(this.#waiting);
  }

  #laneOf(request: PendingRequest): PendingRequest[] {
    return this.#hasLane(request) ? this.#waitingControl : this.#waiting;
  }

  #hasLane({ method }: PendingRequest): boolean {
    return this.#isCordon && method !== 'initialize' && methods[method].isControl;
  }
}

function shiftWanted(lane: PendingRequest[]): PendingRequest | undefined {
  for (;;) {
    const request = lane.shift();
    if (request?.isGivenUp !== true) {
      return request;
    }
  }
}

/**
 * Whether a second copy of a request does no harm when the first one arrived: it only reads, it says what shall be,
 * or (writes to a process) it has an id by which the server knows it again.
 */
function isRepeatable(method: MethodName): boolean {
  return repeatable.has(method);
}

const repeatable: ReadonlySet<MethodName> = new Set<MethodName>([
  ...(['environment/info', 'environment/status', 'environmentConfig/read'] as const),
  ...(['process/read', 'process/write', 'process/terminate'] as const),
  ...(['fs/readFile', 'fs/getMetadata', 'fs/canonicalize', 'fs/readDirectory', 'fs/walk'] as const),
  ...(['capabilityRoots/discoverV1', 'capabilities/discoverV2'] as const),
  ...(['cordon/configure', 'cordon/policy/resolve', 'cordon/process/list', 'cordon/process/label'] as const),
  ...(['cordon/process/resize', 'cordon/process/endInput', 'cordon/process/terminate'] as const),
  'cordon/door/isHeld',
]);
