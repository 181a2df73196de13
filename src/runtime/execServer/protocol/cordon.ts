import { constants } from 'node:os';
import * as z from 'zod';
import {
  cacheModes,
  gitModes,
  networkModes,
  policyClauses,
  sandboxModes,
  tmpModes,
} from '../../../sandbox/policy/policy.ts';
import { wideningSchema } from '../../../sandbox/policy/widening.ts';
import {
  contentHash,
  storedEntry,
  storedPatchError,
  storedPlan,
  storedRefusal,
} from '../../../patch/plan/storedPlan.ts';
import { sandboxErrorKinds } from '../../../sandbox/sandboxManager.ts';
import { spawnErrorKinds } from '../../exec/execBackend.ts';
import { fileUri } from './fileUri.ts';

/**
 * What Cordon's server understands beyond the protocol: members named `cordon` and methods named `cordon/…`. A client
 * uses them only after `environmentInfo.cordon` announced them; other clients never meet them.
 */

const sources = z.enum([
  'default',
  'user',
  'profile',
  'grant',
  'managed',
  'workspace',
  'untrusted',
  'request',
]);
const hostPattern = z.object({ host: z.string(), port: z.int().optional() });

/** A resolved {@link SandboxPolicy} with URIs for paths. The executing machine makes them canonical again. */
export const wirePolicy = z.strictObject({
  root: fileUri,
  mode: z.enum(sandboxModes),
  files: z.array(
    z.strictObject({
      path: fileUri,
      access: z.enum(['none', 'read', 'write']),
      source: sources,
      writtenAs: z.string().optional(),
    }),
  ),
  hidden: z.array(z.strictObject({ folder: fileUri, glob: z.string(), source: sources })),
  git: z.enum(gitModes),
  caches: z.enum(cacheModes),
  tmp: z.enum(tmpModes),
  network: z.enum(networkModes),
  hosts: z.strictObject({ allow: z.array(hostPattern), deny: z.array(hostPattern) }),
  sockets: z.array(fileUri),
  environment: z.strictObject({
    inherit: z.enum(['all', 'core', 'none']),
    ignoreDefaultExcludes: z.boolean(),
    exclude: z.array(z.string()),
    set: z.record(z.string(), z.string()),
    includeOnly: z.array(z.string()),
  }),
  limits: z.strictObject({
    processes: z.int().optional(),
    memoryMiB: z.int().optional(),
    fileSizeMiB: z.int().optional(),
    cpuSeconds: z.int().optional(),
  }),
  sources: z.record(z.enum(policyClauses), sources),
});
export type WirePolicy = z.infer<typeof wirePolicy>;

const number = z.string().regex(/^\d{1,20}$/);
/** As links in a folder have it. */
const programName = z.string().regex(/^(?!\.{1,2}$)[^/\s\0]{1,100}$/);
const size = { columns: z.int().min(1).max(65_535), rows: z.int().min(1).max(65_535) };

/** Of `process/start`. */
export const cordonStart = z.strictObject({
  /** In place of `sandbox`; giving both is invalid. */
  policy: wirePolicy.optional(),
  /** Of the terminal. */
  size: z.strictObject(size).optional(),
  /**
   * The environment is what the policy's clause lets through of the server's own, with `env` on top; not together with
   * `envPolicy`.
   */
  inheritsEnvironment: z.boolean().optional(),
  /** The very folder that `cwd` must be, over no link: decimal numbers of the machine. It runs there or not at all. */
  folder: z.strictObject({ device: number, inode: number }).optional(),
  /** Programs that ask before they run in it, over `cordon/door/…`. */
  door: z.strictObject({ programs: z.array(programName).max(200) }).optional(),
  /**
   * Instead of pipes: the door's connection over which its standard streams come, of which the client hears nothing
   * more. Such a process ends when the client is gone, as does whoever stands for it where the connection came from.
   */
  streams: z.string().optional(),
  /** What the client wants to find again when it lists processes; the server does not look into it. */
  label: z.string().optional(),
});
export type CordonStart = z.infer<typeof cordonStart>;

const launcher = z.enum(['none', 'bubblewrap', 'landlock']);
/** In the answer to `process/start`: which of Cordon's own launchers confines it. */
export const cordonStarted = z.object({ launcher });

/**
 * Member `cordon` in the `data` of an error of `process/start`: a `StartError` whole, so that the client says what
 * the server knows. `data.kind` is there as well when it is one of the protocol's.
 */
export const cordonStartFailure = z.object({
  /** One that is not known here comes from a later version. */
  kind: z.enum([...spawnErrorKinds, ...sandboxErrorKinds]).catch('spawn-failed'),
  message: z.string(),
  hint: z.string(),
});

/** Left out where this machine has no such signal: the exit code tells it as well. */
const signalName = z
  .custom<NodeJS.Signals>((name) => typeof name === 'string' && Object.hasOwn(constants.signals, name))
  .optional()
  .catch(undefined);

/** What the protocol's own events have no room for. */
export const cordonExit = z.object({
  /** As it is, where the protocol has another number for it: a terminal's signal, a program that a sandbox lacks. */
  exitCode: z.int().optional(),
  /** Name of the signal that ended it. */
  signal: signalName,
  blockedRequests: z
    .array(
      z.object({
        host: z.string(),
        port: z.int(),
        reason: z.enum(['allow-list', 'deny-list', 'local-address', 'server-name', 'method']),
        time: z.number(),
      }),
    )
    .optional(),
  /** From here on only when it is closed. */
  deniedCalls: z.array(z.object({ call: z.string(), detail: z.number() })).optional(),
  findings: z
    .array(
      z.object({
        path: z.string(),
        what: z.enum(['hook', 'configuration', 'redirect', 'rebase', 'replaced']),
        message: z.string(),
      }),
    )
    .optional(),
});
export type CordonExit = z.infer<typeof cordonExit>;

const processId = z.string();
export const resizeParams = z.object({ processId, ...size });
export const endInputParams = z.object({ processId });
export const anySignalParams = z.object({ processId, signal: z.string() });
export const anySignalResult = z.object({ delivered: z.boolean() });
/** TERM to the whole group, KILL after the grace; answered at once. */
export const gracefulTerminateParams = z.object({ processId, graceMs: z.int().min(0) });
export const labelParams = z.object({ processId, label: z.string() });
/** The session's processes, closed ones among them as long as they are readable. */
export const listResult = z.object({
  processes: z.array(
    z.object({
      processId,
      label: z.string(),
      sandboxType: z.string(),
      /** Of Cordon's own launchers. */
      launcher,
      tty: z.boolean(),
      pipeStdin: z.boolean(),
      isRunning: z.boolean(),
      /** Milliseconds since the epoch. */
      startedAt: z.number(),
    }),
  ),
});
/** What holds for every later start of the connection's session. */
export const configureParams = z.object({
  /** Folders from which no launcher is ever taken: the open roots. */
  untrustedFolders: z.array(fileUri),
  /** What commands never write, whatever their policy says. */
  trustedPaths: z.array(fileUri),
  /** The editor's own proxy: how allowed hosts are reached; null for none, absent for that of the server's variables. */
  upstream: z
    .object({
      url: z.string(),
      except: z.array(z.string()),
      authorization: z
        .string()
        .regex(/^[\x20-\x7e]+$/)
        .exactOptional(),
    })
    .nullable()
    .exactOptional(),
});

/** The settings of a root, to be resolved on the machine that enforces them. */
export const resolvePolicyParams = z.object({
  /** Of `PolicyInput` without the machine's own part; checked as settings are. */
  input: z.record(z.string(), z.unknown()),
  /** On top, of the person: narrowed like all of theirs. What has become a link since opens nothing. */
  widenings: z.array(wideningSchema).optional(),
});
export const resolvePolicyResult = z.union([
  z.object({ policy: wirePolicy }),
  z.object({
    problem: z.object({ field: z.string(), message: z.string(), hint: z.string(), source: sources }),
  }),
]);

/** A plan with its contents. Paths in it are as the machine that has the files calls them. */
export const wirePlan = storedPlan.extend({ contents: z.record(contentHash, z.base64()) });
export type WirePlan = z.infer<typeof wirePlan>;

/** Holds a patch against the files there; nothing is written. */
export const planPatchParams = z.object({
  patch: z.string(),
  /** What the names in it are relative to. */
  cwd: fileUri,
  policy: wirePolicy,
  /** Tell what leaves the folder even where everything is allowed: somebody can look at it. */
  isWatched: z.boolean(),
});
export const planPatchResult = z.union([
  z.object({ plan: wirePlan, refusals: z.array(storedRefusal) }),
  z.object({ problem: storedPatchError }),
]);

/** Applies a plan to the files there: all of it or nothing, whatever becomes of the connection. */
export const applyPatchParams = z.object({
  plan: wirePlan,
  policy: wirePolicy,
  /** Beyond the policy: what a person has looked at. */
  accepted: z.array(fileUri),
});
export const applyPatchResult = z.object({ problem: storedPatchError.optional() });

/** What is at paths, to keep it or to bring it back, whatever the policy hides from commands. */
export const lookParams = z.object({
  paths: z.array(fileUri),
  policy: wirePolicy,
  withContents: z.boolean(),
});
export const lookResult = z.union([
  z.object({
    /** In the order of the paths. */
    entries: z.array(z.object({ entry: storedEntry, content: z.base64().optional() })),
    /** Folders above the paths, innermost first. */
    missingFolders: z.array(z.string()),
    /** Of the paths, those that the policy does not let be written. */
    refusals: z.array(storedRefusal),
  }),
  z.object({ problem: storedPatchError }),
]);

/** What restoring needs beyond a plan: folders go as far as they are empty, links come. */
export const completeRestoreParams = z.object({
  folders: z.array(fileUri),
  links: z.array(z.object({ path: fileUri, name: z.string(), target: z.string() })),
});
export const completeRestoreResult = z.object({ problems: z.array(z.string()) });

/**
 * The connections of programs that ask: bytes both ways, under a name that the server gives to each. It ends them all
 * with the client's own connection; those of a resumed session are new ones.
 */
export const doorOpenedEvent = z.object({ processId, connectionId: z.string() });
export const doorDataEvent = z.object({ connectionId: z.string(), chunk: z.string() });
export const doorEndedEvent = z.object({ connectionId: z.string() });
export const doorSendParams = z.object({ connectionId: z.string(), chunk: z.string() });
export const doorCloseParams = z.object({ connectionId: z.string() });
export const doorIsHeldParams = z.object({ processId, path: z.string() });
export const doorIsHeldResult = z.object({ isHeld: z.boolean() });
