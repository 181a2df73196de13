import type { Stats } from 'node:fs';
import { stat } from 'node:fs/promises';
import { homedir, hostname } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { accessTo } from '../../../../sandbox/policy/fileRules.ts';
import { locate } from '../../../../sandbox/policy/files/locate.ts';
import { isUnsandboxed } from '../../../../sandbox/policy/policy.ts';
import { errorCodes, RpcError } from '../../protocol/errors.ts';
import { pathOf, uriOf } from '../../protocol/fileUri.ts';
import type { ParamsOf, ResultOf } from '../../protocol/methods.ts';
import type { SandboxContext } from '../../protocol/sandboxContext.ts';
import type { ServiceFactory } from '../../server/service.ts';
import { confinementOf } from '../sandboxContext/confinement.ts';
import type { ContextMachine } from '../sandboxContext/contextMachine.ts';
import { contextMachine } from '../sandboxContext/contextMachine.ts';

export interface DiscoveryServiceOptions {
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/**
 * What a client asks about before its first command. Cordon keeps no configuration, plugins or skills for others, so
 * the answers are those of a machine that has none: only whether a root can be looked at is found out.
 */
export function discoveryService({
  environment = process.env,
}: DiscoveryServiceOptions = {}): ServiceFactory {
  return () => ({
    handlers: {
      'environmentConfig/read': (params) => readConfig(params, environment),
      'capabilityRoots/discoverV1': async ({ roots }) => {
        const machine = contextMachine(environment);
        return { roots: await Promise.all(roots.map((root) => lookAt(root, machine))) };
      },
      'capabilities/discoverV2': async ({ cwd, sandbox }) => {
        pathOf(cwd);
        await checkSandbox(sandbox, contextMachine(environment));
        return { plugins: [], skills: [], warnings: [] };
      },
    },
  });
}

function readConfig(
  { cwd, configPaths, requirementsPaths }: ParamsOf<'environmentConfig/read'>,
  environment: Readonly<Record<string, string | undefined>>,
): ResultOf<'environmentConfig/read'> {
  pathOf(cwd);
  const paths = [...configPaths, ...requirementsPaths];
  if (paths.length === 0) {
    throw new RpcError(errorCodes.invalidParams, 'at least one config or requirements path is required');
  }
  if (paths.some((path) => path.length === 0)) {
    throw new RpcError(errorCodes.invalidParams, 'each path must contain at least one key');
  }
  const home = environment['CODEX_HOME'];
  return {
    userHomeDir: uriOf(homedir()),
    codexHomeDir: uriOf(home !== undefined && isAbsolute(home) ? home : join(homedir(), '.codex')),
    hostname: hostname(),
    config: { layers: [], cloudInsertionIndex: 0 },
    requirements: { layers: [], cloudInsertionIndex: 0 },
  };
}

type Root = ParamsOf<'capabilityRoots/discoverV1'>['roots'][number];

async function lookAt(
  { id, path: uri, sandbox }: Root,
  machine: ContextMachine,
): Promise<ResultOf<'capabilityRoots/discoverV1'>['roots'][number]> {
  const path = pathOf(uri);
  const isHidden = await checkSandbox(sandbox, machine, locate(path, machine).path);
  const entry = isHidden ? 'it is hidden by its sandbox context' : await entryAt(path);
  const error =
    typeof entry === 'string'
      ? `failed to inspect capability root ${uri}: ${entry}`
      : entry.isDirectory()
        ? null
        : `capability root ${uri} is not a directory`;
  return { id, path: uri, plugin: null, skills: [], namespaceManifests: [], warnings: [], error };
}

async function entryAt(path: string): Promise<Stats | string> {
  try {
    return await stat(path);
  } catch (error) {
    return (error as Error).message;
  }
}

/** Throws for a context that is none; tells whether it hides a canonical path. */
async function checkSandbox(
  sandbox: SandboxContext | null | undefined,
  machine: ContextMachine,
  path?: string,
): Promise<boolean> {
  const confinement = await confinementOf({ sandbox }, { kind: 'files' }, machine);
  if (!confinement.ok) {
    throw confinement.error;
  }
  const { policy } = confinement.value;
  return path !== undefined && !isUnsandboxed(policy) && accessTo(policy, path) === 'none';
}
