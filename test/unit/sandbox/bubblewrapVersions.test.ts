import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BubblewrapFeatures } from '../../../src/sandbox/linux/bubblewrap/launcherArguments.ts';
import { probeBubblewrap } from '../../../src/sandbox/linux/bubblewrap/probe.ts';
import { bubblewrapVersions, helpOf, optionsOf } from '../../harness/bubblewrapVersions.ts';

/** What a version can do, where bubblewrap has to make the mounts. */
const features: Readonly<Record<string, Omit<BubblewrapFeatures, 'companionMounts'>>> = {
  '0.4.0': { perms: false, disableUserns: false },
  '0.5.0': { perms: true, disableUserns: false },
  '0.6.0': { perms: true, disableUserns: false },
  '0.8.0': { perms: true, disableUserns: true },
  '0.9.0': { perms: true, disableUserns: true },
  '0.10.0': { perms: true, disableUserns: true },
  '0.11.0': { perms: true, disableUserns: true },
};

describe('probeBubblewrap() with the options of a version', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'cordon-bwrap-'));
    for (const name of ['bwrap', 'launch']) {
      writeFileSync(join(folder, name), '');
      chmodSync(join(folder, name), 0o755);
    }
  });
  after(() => rmSync(folder, { recursive: true }));

  /** The words for bubblewrap of every trial, and the answer. */
  async function probe(version: string, mountedBy?: 'bubblewrap') {
    const trials: string[][] = [];
    const result = await probeBubblewrap({
      searchPath: folder,
      untrustedFolders: [],
      helperPath: join(folder, 'launch'),
      kernelVersion: '6.1.0',
      filter: '00',
      ...(mountedBy && { mountedBy }),
      run: async (_, args) => {
        if (args[0] === '--outer') {
          const own = args.slice(args.indexOf('--') + 2);
          trials.push(own.slice(0, own.indexOf('--')));
        }
        const stdout = args[0] === '--help' ? helpOf(version) : `bubblewrap ${version}\n`;
        return { exitCode: 0, stdout, stderr: '' };
      },
    });
    assert.ok(result.ok, result.ok ? '' : result.error.message);
    return { trials, bubblewrap: result.value };
  }

  for (const version of bubblewrapVersions) {
    it(`${version}: uses what it has, and nothing else`, async () => {
      const known = new Set(optionsOf(version));
      for (const mountedBy of [undefined, 'bubblewrap'] as const) {
        const { trials, bubblewrap } = await probe(version, mountedBy);
        assert.equal(trials.length, 1);
        const used = trials.flat().filter((word) => word.startsWith('--'));
        assert.deepEqual(
          used.filter((option) => !known.has(option)),
          [],
        );
        assert.equal(bubblewrap.version, version);
        assert.deepEqual(bubblewrap.features, {
          ...features[version],
          companionMounts: mountedBy === undefined,
        });
        const isNarrowed = mountedBy === 'bubblewrap' && features[version]?.disableUserns === true;
        assert.equal(used.includes('--disable-userns'), isNarrowed);
      }
    });
  }
});
