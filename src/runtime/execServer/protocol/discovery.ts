import * as z from 'zod';
import { fileUri } from './fileUri.ts';
import { sandboxContext } from './sandboxContext.ts';

const keyPaths = z.array(z.array(z.string()));
const layers = z.object({ layers: z.array(z.unknown()), cloudInsertionIndex: z.int() });

export const environmentConfigParams = z.object({
  cwd: fileUri,
  configPaths: keyPaths,
  requirementsPaths: keyPaths,
});
export const environmentConfigResult = z.object({
  userHomeDir: z.string(),
  codexHomeDir: z.string(),
  hostname: z.string(),
  config: layers,
  requirements: layers,
});

export const capabilityRootsParams = z.object({
  roots: z.array(z.object({ id: z.string(), path: fileUri, sandbox: sandboxContext.nullish() })),
});
export const capabilityRootsResult = z.object({
  roots: z.array(
    z.object({
      id: z.string(),
      path: z.string(),
      plugin: z.unknown(),
      skills: z.array(z.unknown()),
      namespaceManifests: z.array(z.unknown()),
      warnings: z.array(z.unknown()),
      error: z.unknown(),
    }),
  ),
});
export const capabilitiesParams = z.object({ cwd: fileUri, sandbox: sandboxContext.nullish() });
export const capabilitiesResult = z.object({
  plugins: z.array(z.unknown()),
  skills: z.array(z.unknown()),
  warnings: z.array(z.unknown()),
});
