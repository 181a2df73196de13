import type { MethodName } from '../protocol/methods.ts';
import { methods } from '../protocol/methods.ts';
import type { LaneEntry } from './lanes.ts';

/**
 * Requests of each kind run at once up to a number of their own, so that what waits for memory, or for another machine,
 * keeps nobody else.
 */
export const slotKinds = ['work', 'whole files', 'listings', 'http'] as const;
export type SlotKind = (typeof slotKinds)[number];

/** What of a request must stay in order with others, and among which of those that run at once it counts. */
export interface Ordering {
  readonly lanes: readonly LaneEntry[];
  readonly slot: SlotKind | undefined;
}

/** Answered without work, or waiting for something that is not work. */
const slotless: ReadonlySet<MethodName> = new Set([
  'process/read',
  'process/write',
  'cordon/process/endInput',
  'cordon/door/send',
  'cordon/door/close',
]);

const mutations: ReadonlySet<MethodName> = new Set([
  'fs/writeFile',
  'fs/createDirectory',
  'fs/remove',
  'fs/copy',
  'fs/writeBlock',
]);

/**
 * Requests of one process stay in order, requests of one file handle, and calls that change files against all other
 * file calls. Signals and the like, and waiting reads, only wait for the start of their process.
 */
export function orderingOf(method: MethodName, params: unknown): Ordering {
  return { lanes: lanesOf(method, params), slot: slotOf(method) };
}

function slotOf(method: MethodName): SlotKind | undefined {
  const found = methods[method];
  if (!('isControl' in found) || found.isControl || slotless.has(method)) {
    return undefined;
  }
  return slotKindOf[method] ?? 'work';
}

const slotKindOf: { readonly [M in MethodName]?: SlotKind } = {
  'fs/readFile': 'whole files',
  'fs/readDirectory': 'listings',
  'fs/walk': 'listings',
  'http/request': 'http',
};

function lanesOf(method: MethodName, params: unknown): LaneEntry[] {
  const { processId, handleId, connectionId, mode } = (params ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof processId === 'string') {
    return processLanes(method, processId);
  }
  if (typeof connectionId === 'string') {
    return [{ lane: `door ${connectionId}`, mode: 'exclusive' }];
  }
  if (method.startsWith('fs/') && method !== 'fs/watchMissing') {
    const isMutation = mutations.has(method) || (method === 'fs/open' && mode === 'replace');
    const files: LaneEntry = { lane: 'files', mode: isMutation ? 'exclusive' : 'shared' };
    // Closing is short, and must not wait for a long walk.
    return typeof handleId === 'string'
      ? [{ lane: `handle ${handleId}`, mode: 'exclusive' }, ...(method === 'fs/close' ? [] : [files])]
      : [files];
  }
  return [];
}

const inputs: ReadonlySet<MethodName> = new Set(['process/write', 'cordon/process/endInput']);

function processLanes(method: MethodName, processId: string): LaneEntry[] {
  const lane = `start ${processId}`;
  return [
    { lane, mode: method === 'process/start' ? 'exclusive' : 'passing' },
    ...(inputs.has(method) ? [{ lane: `input ${processId}`, mode: 'exclusive' } as const] : []),
  ];
}
