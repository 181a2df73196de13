// The peer that the sandbox benchmark compares with: `@anthropic-ai/sandbox-runtime` from npm, program and library.
import { join } from 'node:path';
import { installPeer } from './installPeer.mjs';

export const sandboxRuntimeVersion = '0.0.83';

/** The paths of its program and of its library's entry; installs it when it is not there yet. */
export async function ensureSandboxRuntime() {
  const folder = await installPeer('sandbox-runtime', '@anthropic-ai/sandbox-runtime', sandboxRuntimeVersion);
  const dist = join(folder, 'node_modules', '@anthropic-ai', 'sandbox-runtime', 'dist');
  return { program: join(dist, 'cli.js'), library: join(dist, 'index.js') };
}
