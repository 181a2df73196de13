import assert from 'node:assert/strict';
import { ok } from '../../../src/base/result.ts';
import type { Machine } from '../../../src/runtime/machines/machine.ts';
import { locatePlace } from '../../../src/runtime/places.ts';
import type { Root, Roots } from '../../../src/runtime/roots.ts';

describe('a folder that does not exist', () => {
  const refusal = async (root: Root, workdir: string | undefined): Promise<string> => {
    const roots = { list: () => [root], active: () => root } as unknown as Roots;
    const machine = {
      pathOf: (_: Root, path: string) => (path === '.' ? '/srv/app' : path),
      realFolder: async () => ok(undefined),
    } as unknown as Machine;
    const place = await locatePlace(roots, async () => ok(machine), workdir);
    return place.ok ? 'found' : `${place.error.message} ${place.error.hint}`;
  };

  it('is told with what to pass instead', async () => {
    assert.equal(
      await refusal({ name: 'app', path: '/app', environment: 'build' }, '/none'),
      'workdir /none is not an existing folder on build. Pass an existing folder, or leave workdir out to run in /srv/app.',
    );
  });

  it('is a matter of the settings when it is that of the environment itself', async () => {
    assert.equal(
      await refusal({ name: 'app', path: '/app', environment: 'build' }, undefined),
      '/srv/app, the folder of the environment build, does not exist there. Make it on that machine, or correct cordon.environments.build.folder in the settings.',
    );
  });
});
