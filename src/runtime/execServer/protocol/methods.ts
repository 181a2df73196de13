import * as z from 'zod';
import * as cordon from './cordon.ts';
import * as discovery from './discovery.ts';
import * as files from './files.ts';
import * as handshake from './handshake.ts';
import * as http from './http.ts';
import { policyAnswer, policyDecisionEvent, policyRequest } from './managedNetwork.ts';
import * as processes from './processes.ts';

const nothing = z.object({});
/** Of methods without fields: absent, null or an empty object. */
const none = z.strictObject({}).nullish();

/**
 * Every request of the protocol. `group`: what an error about the handshake's order calls it. `isControl`: never waits
 * behind ordinary requests.
 */
export const methods = {
  initialize: { params: handshake.initializeParams, result: handshake.initializeResult },
  'environment/info': group('environment info', none, handshake.environmentInfo, true),
  'environment/status': group('environment status', none, handshake.environmentStatus, true),
  'process/start': group('exec', processes.startParams, processes.startResult),
  'process/read': group('exec', processes.readParams, processes.readResult),
  'process/write': group('exec', processes.writeParams, processes.writeResult),
  'process/signal': group('exec', processes.signalParams, nothing, true),
  'process/terminate': group('exec', processes.terminateParams, processes.terminateResult, true),
  'fs/readFile': group('filesystem', files.readFileParams, files.readFileResult),
  'fs/writeFile': group('filesystem', files.writeFileParams, nothing),
  'fs/createDirectory': group('filesystem', files.createDirectoryParams, nothing),
  'fs/getMetadata': group('filesystem', files.getMetadataParams, files.getMetadataResult),
  'fs/canonicalize': group('filesystem', files.canonicalizeParams, files.canonicalizeResult),
  'fs/readDirectory': group('filesystem', files.readDirectoryParams, files.readDirectoryResult),
  'fs/walk': group('filesystem', files.walkParams, files.walkResult),
  'fs/remove': group('filesystem', files.removeParams, nothing),
  'fs/copy': group('filesystem', files.copyParams, nothing),
  'fs/open': group('filesystem', files.openParams, files.openResult),
  'fs/readBlock': group('filesystem', files.readBlockParams, files.readBlockResult),
  'fs/writeBlock': group('filesystem', files.writeBlockParams, nothing),
  'fs/close': group('filesystem', files.closeParams, nothing, true),
  'fs/watchMissing': group('filesystem', files.watchMissingParams, files.watchMissingResult),
  'http/request': group('http', http.httpRequestParams, http.httpRequestResult),
  'environmentConfig/read': group(
    'environment config',
    discovery.environmentConfigParams,
    discovery.environmentConfigResult,
  ),
  'capabilityRoots/discoverV1': group(
    'capability discovery',
    discovery.capabilityRootsParams,
    discovery.capabilityRootsResult,
  ),
  'capabilities/discoverV2': group(
    'capability discovery',
    discovery.capabilitiesParams,
    discovery.capabilitiesResult,
  ),
  'cordon/configure': group('exec', cordon.configureParams, nothing, true),
  'cordon/policy/resolve': group('exec', cordon.resolvePolicyParams, cordon.resolvePolicyResult),
  'cordon/patch/plan': group('filesystem', cordon.planPatchParams, cordon.planPatchResult),
  'cordon/patch/apply': group('filesystem', cordon.applyPatchParams, cordon.applyPatchResult),
  'cordon/patch/look': group('filesystem', cordon.lookParams, cordon.lookResult),
  'cordon/patch/completeRestore': group(
    'filesystem',
    cordon.completeRestoreParams,
    cordon.completeRestoreResult,
  ),
  'cordon/process/list': group('exec', none, cordon.listResult, true),
  'cordon/process/label': group('exec', cordon.labelParams, nothing, true),
  'cordon/process/resize': group('exec', cordon.resizeParams, nothing, true),
  'cordon/process/endInput': group('exec', cordon.endInputParams, nothing),
  'cordon/process/signal': group('exec', cordon.anySignalParams, cordon.anySignalResult, true),
  'cordon/process/terminate': group('exec', cordon.gracefulTerminateParams, processes.terminateResult, true),
  'cordon/door/send': group('exec', cordon.doorSendParams, nothing),
  'cordon/door/close': group('exec', cordon.doorCloseParams, nothing),
  'cordon/door/isHeld': group('exec', cordon.doorIsHeldParams, cordon.doorIsHeldResult, true),
} as const;

export type MethodName = keyof typeof methods;
export type ParamsOf<M extends MethodName> = z.infer<(typeof methods)[M]['params']>;
/** As a caller may write them: what has a default can be left out. */
export type ParamsFor<M extends MethodName> = z.input<(typeof methods)[M]['params']>;
export type ResultOf<M extends MethodName> = z.infer<(typeof methods)[M]['result']>;

/** Every notification that a server sends. */
export const notifications = {
  'process/output': processes.outputEvent,
  'process/exited': processes.exitedEvent,
  'process/closed': processes.closedEvent,
  'fs/missingChanged': files.missingChangedEvent,
  'http/request/bodyDelta': http.bodyDeltaEvent,
  'network/policyDecision': policyDecisionEvent,
  'cordon/door/opened': cordon.doorOpenedEvent,
  'cordon/door/data': cordon.doorDataEvent,
  'cordon/door/ended': cordon.doorEndedEvent,
} as const;

export type NotificationName = keyof typeof notifications;
export type NotificationParams<N extends NotificationName> = z.infer<(typeof notifications)[N]>;

/** Requests that a server sends, and only to a client that started a process with a network proxy. */
export const serverMethods = {
  'network/policyRequest': { params: policyRequest, result: policyAnswer },
} as const;

export type ServerMethodName = keyof typeof serverMethods;
export type ServerParamsOf<M extends ServerMethodName> = z.infer<(typeof serverMethods)[M]['params']>;
export type ServerResultOf<M extends ServerMethodName> = z.infer<(typeof serverMethods)[M]['result']>;

function group<P extends z.ZodType, R extends z.ZodType>(
  name: string,
  params: P,
  result: R,
  isControl = false,
): { readonly params: P; readonly result: R; readonly group: string; readonly isControl: boolean } {
  return { params, result, group: name, isControl };
}
