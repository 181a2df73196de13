import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { once } from '../../base/once.ts';
import { ok } from '../../base/result.ts';
import { linesTransport } from '../execServer/transport/lines.ts';
import type { EnvironmentProvider } from './environment.ts';
import { createRemoteEnvironment } from './remoteEnvironment.ts';
import { dialSsh } from './ssh/dialSsh.ts';
import { readServerBundle } from './ssh/serverBundle.ts';
import type { SshSettings } from './ssh/sshSettings.ts';
import { sshSettings } from './ssh/sshSettings.ts';

/** The server waits for 15 minutes, and a whole login has to be made for every attempt. */
const timing = { recoveryMs: 14 * 60_000, retryMs: 2_000, attemptMs: 60_000 };

/** A machine that the person's own ssh reaches. Nothing needs to be there but Node: the server is brought along. */
export const sshProvider: EnvironmentProvider<SshSettings> = {
  type: 'ssh',
  settings: sshSettings,
  open(name, settings, { log, bundleFolder, version, sessions }) {
    // Read once: an update of the extension comes with a new window.
    const read = once(() =>
      Promise.all([
        readServerBundle(bundleFolder, version),
        readFile(join(bundleFolder, 'cli', 'sshHost.js')),
      ]),
    );
    return createRemoteEnvironment({
      name,
      address: `ssh ${settings.host}`,
      folder: settings.folder,
      log,
      timing,
      sessions,
      async dial(signal) {
        const [bundle, hostProgram] = await read();
        const dialled = await dialSsh({ settings, bundle, hostProgram, log, signal });
        if (!dialled.ok) {
          return dialled;
        }
        const { input, output, close } = dialled.value;
        return ok(linesTransport(output, input, `exec-server on ${settings.host}`, { close }));
      },
    });
  },
};
