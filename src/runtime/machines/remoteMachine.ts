import { posix, relative, sep } from 'node:path';
import type { Result } from '../../base/result.ts';
import { fail, ok } from '../../base/result.ts';
import type { PolicyInput } from '../../sandbox/policy/input.ts';
import type { SandboxPolicy } from '../../sandbox/policy/policy.ts';
import { resolveWidened } from '../../sandbox/policy/resolveWidened.ts';
import { isInside } from '../../sandbox/paths.ts';
import type { Environment } from '../environments/environment.ts';
import { environmentSetting } from '../environments/environments.ts';
import { environmentUnder } from '../environmentUnder.ts';
import type { ExecClient } from '../execServer/client/execClient.ts';
import { ConnectionLost } from '../execServer/client/execClient.ts';
import { MalformedAnswer } from '../execServer/client/resultOf.ts';
import { RpcError } from '../execServer/protocol/errors.ts';
import { pathOf, uriOf } from '../execServer/protocol/fileUri.ts';
import { fromWire } from '../execServer/services/sandboxContext/wirePolicy.ts';
import { siteOfFileCalls } from '../patches/siteOfFileCalls.ts';
import { siteOfServer } from '../patches/siteOfServer.ts';
import type { RefusedCommand } from '../places.ts';
import type { PolicyError, Root, Roots, RootSettings } from '../roots.ts';
import type { Machine } from './machine.ts';
import type { RemotePolicies } from './remotePolicies.ts';

export interface RemoteMachineOptions {
  readonly roots: Roots;
  readonly environment: Environment;
  readonly client: ExecClient;
  readonly policies: RemotePolicies;
}

/**
 * Another machine, through its exec-server. Paths are paths there; what a path really leads to is for that machine to
 * say, so that nothing here takes one for a path of this machine.
 */
export function remoteMachine(options: RemoteMachineOptions): Machine {
  const { environment, client } = options;
  const { info, isCordon } = client;
  const folder = environment.folder ?? posix.sep;
  const [programs] = info.prependPathDirs ?? [];
  return {
    pathOf: (root, workdir) => meantPath(root, folder, workdir),
    realFolder: (path) => answered(environment, realFolder(client, path)),
    policyFor: (root, widenings) => answered(environment, resolveThere(options, folder, root, widenings)),
    shellFor: (wanted) => answered(environment, shellOf(client, environment.name, wanted)),
    environmentFor: (policy, { isTty, inFront }) => ({
      // Cordon's own server adds what every command gets.
      env: isCordon ? {} : environmentUnder(policy, {}, isTty, { inFront }),
      inheritsEnvironment: true,
    }),
    helperFolder: isCordon && programs != null ? pathOf(programs) : undefined,
    paths: pathsOf(client),
    patchSite: ({ path }) => {
      const machine = { environment: environment.name, folder: path };
      return isCordon ? siteOfServer(client, machine) : siteOfFileCalls(client, machine);
    },
    keepsPartsInside: `they run on ${environment.name}, where nobody can vouch for a program outside of the sandbox`,
  };
}

/** An agent that reads files here may name a folder as it is called here. */
function meantPath(root: Root, folder: string, workdir: string): string {
  const isOfHere = isInside(workdir, root.path) && !isInside(workdir, folder);
  const path = isOfHere ? relative(root.path, workdir).split(sep).join(posix.sep) : workdir;
  return posix.resolve(folder, path);
}

/** The answer of that machine; that there is none, and why, is one, too. */
async function answered<T, E>(
  { name }: Environment,
  question: Promise<Result<T, E>>,
): Promise<Result<T, E | PolicyError>> {
  try {
    return await question;
  } catch (cause) {
    const isLost = cause instanceof ConnectionLost;
    if (!isLost && !(cause instanceof RpcError) && !(cause instanceof MalformedAnswer)) {
      throw cause;
    }
    return fail({
      field: environmentSetting,
      message: isLost
        ? `The connection to the environment ${name} is lost: ${cause.message}.`
        : `The environment ${name} did not answer as expected: ${cause.message}.`,
      hint: isLost
        ? 'Nothing was run. Run it again: the next command connects anew.'
        : 'Nothing was run. Update the exec-server there, or choose another environment.',
    });
  }
}

async function realFolder(
  client: ExecClient,
  path: string,
): Promise<Result<string | undefined, RefusedCommand>> {
  const real = await unlessRefused(client.call('fs/canonicalize', { path: uriOf(path), sandbox: null }));
  const folder = real && pathOf(real.path);
  const isFolder = folder !== undefined && (await metadataOf(client, folder))?.isDirectory === true;
  return ok(isFolder ? folder : undefined);
}

function metadataOf(
  client: ExecClient,
  path: string,
): Promise<{ readonly isFile: boolean; readonly isDirectory: boolean } | undefined> {
  return unlessRefused(client.call('fs/getMetadata', { path: uriOf(path), sandbox: null }));
}

/** Undefined for what does not exist there, or nobody may look at. */
async function unlessRefused<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof RpcError) {
      return undefined;
    }
    throw error;
  }
}

async function resolveThere(
  { roots, client, environment, policies }: RemoteMachineOptions,
  folder: string,
  root: Root,
  more: Parameters<Machine['policyFor']>[1],
): Promise<Result<SandboxPolicy, PolicyError>> {
  const settings = roots.settingsFor?.(root);
  if (settings === undefined) {
    return fail(unknownSettings(root, environment));
  }
  if (!settings.ok) {
    return settings;
  }
  const { widenings: granted, ...input } = settings.value;
  const all = [...granted, ...more];
  const policy = client.isCordon
    ? await resolvedByServer(client, folder, input, all)
    : resolveWidened({ ...input, ...factsOf(client), root: folder }, all);
  if (more.length === 0) {
    policies.keep(root, settings.value, policy);
  }
  return policy;
}

async function resolvedByServer(
  client: ExecClient,
  folder: string,
  input: Omit<RootSettings, 'widenings'>,
  widenings: RootSettings['widenings'],
): Promise<Result<SandboxPolicy, PolicyError>> {
  const answer = await client.call('cordon/policy/resolve', {
    input: { ...input, root: uriOf(folder) },
    widenings: [...widenings],
  });
  if ('problem' in answer) {
    return fail(answer.problem);
  }
  const policy = fromWire(answer.policy, { canonicalize: (path) => path });
  if (!policy.ok) {
    throw policy.error;
  }
  return policy;
}

/** What is known of a machine with another server: its own sandbox finds out where paths lead. */
function factsOf(client: ExecClient): Omit<PolicyInput, keyof RootSettings | 'root'> {
  return {
    ...pathsOf(client),
    searchPath: '',
    memoryMiB: 0,
    listFolder: () => [],
    repositoryAround: () => undefined,
  };
}

function pathsOf({ info }: ExecClient): Machine['paths'] {
  return {
    homeDir: info.userHomeDir == null ? '/root' : pathOf(info.userHomeDir),
    canonicalize: (path) => path,
  };
}

async function shellOf(
  client: ExecClient,
  name: string,
  wanted: string | undefined,
): Promise<Result<string, RefusedCommand>> {
  const { shell } = client.info;
  if (wanted === undefined || wanted === shell.path || wanted === shell.name) {
    return ok(shell.path);
  }
  if (!client.isCordon) {
    return fail({
      message: `shell ${wanted} cannot be used: the environment ${name} only supports ${shell.name}.`,
      hint: `Leave shell out, or pass ${shell.name}.`,
    });
  }
  return posix.isAbsolute(wanted) && (await isFile(client, wanted))
    ? ok(wanted)
    : fail({
        message: `shell ${wanted} is not an executable file on ${name}.`,
        hint: `Pass the absolute path of a shell that is installed there, or leave shell out for ${shell.path}.`,
      });
}

async function isFile(client: ExecClient, path: string): Promise<boolean> {
  return (await metadataOf(client, path))?.isFile === true;
}

function unknownSettings(root: Root, { name }: Environment): PolicyError {
  return {
    field: 'environment',
    message: `${root.path} cannot have its commands run on ${name} from here.`,
    hint: 'Choose the environment "local".',
  };
}
