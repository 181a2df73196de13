import assert from 'node:assert/strict';
import { hiddenFolder } from '../../../src/sandbox/linux/bubblewrap/hiddenFolder.ts';
import type { Machine } from '../../../src/sandbox/linux/bubblewrap/machine.ts';
import type { Place } from '../../../src/sandbox/linux/bubblewrap/places.ts';
import type { FileRule, HiddenGlob } from '../../../src/sandbox/policy/fileRules.ts';
import { policyOf } from '../../harness/policyOf.ts';

describe('hiddenFolder()', () => {
  const machine: Machine = {
    helperPath: '/c/launch',
    runtimeFolder: '/home/ann/.run',
    hiddenFolders: [],
    temporaryFolders: ['/tmp'],
    homeFolder: '/home/ann',
    cacheFolder: '/home/ann/.cache/cordon',
    toolCaches: [],
    trustedPaths: [],
    programPaths: [],
  };
  const everything: FileRule = { path: '/', access: 'read', source: 'default', writtenAs: ':root' };
  const glob: HiddenGlob = { folder: '/w', glob: '**/secret', source: 'workspace' };

  const cases: readonly {
    readonly name: string;
    readonly cwd: string;
    readonly place: Place;
    readonly files?: readonly FileRule[];
    readonly message: RegExp;
    readonly hint: RegExp;
  }[] = [
    {
      name: 'the private /tmp',
      cwd: '/tmp/x',
      place: { path: '/tmp', shows: 'scratch' },
      message: /private \/tmp\.$/,
      hint: /cordon\.sandbox\.tmp to "shared"/,
    },
    {
      name: 'the own /run',
      cwd: '/run/user/1',
      place: { path: '/run', shows: 'scratch' },
      message: /a \/run of its own/,
      hint: /writableRoots/,
    },
    {
      name: 'the hidden home',
      cwd: '/home/ann/x',
      place: { path: '/home', shows: 'none' },
      files: [{ path: '/home', access: 'none', source: 'default', writtenAs: ':home' }],
      message: /hidden by the rule ":home" of Cordon's defaults/,
      hint: /add "\/home\/ann\/x": "read" to cordon\.sandbox\.files/,
    },
    {
      name: 'a rule of the administrator',
      cwd: '/opt/x',
      place: { path: '/opt', shows: 'none' },
      files: [{ path: '/opt', access: 'none', source: 'managed' }],
      message: /hidden by the rule "\/opt" of the administrator's policy/,
      hint: /Only the machine's administrator/,
    },
    {
      name: 'a glob',
      cwd: '/w/secret',
      place: { path: '/w/secret', shows: 'none' },
      message: /hidden by the rule "\*\*\/secret" of the workspace settings/,
      hint: /in the workspace settings/,
    },
    {
      name: 'no rule',
      cwd: '/opt',
      place: { path: '/', shows: 'none' },
      files: [],
      message: /no rule shows it/,
      hint: /add "\/opt": "read"/,
    },
    {
      name: 'a link that a glob means',
      cwd: '/opt/target/x',
      place: { path: '/opt/target', shows: 'none' },
      message: /a link that the rules hide leads to \/opt\/target/,
      hint: /add "\/opt\/target": "read"/,
    },
    {
      name: 'Cordon’s own folder',
      cwd: '/home/ann/.cache/cordon/caches',
      place: { path: '/home/ann/.cache/cordon', shows: 'none' },
      message: /Cordon keeps its own files in \/home\/ann\/\.cache\/cordon/,
      hint: /No rule can open/,
    },
  ];
  for (const { name, cwd, place, files = [], message, hint } of cases) {
    it(`names ${name}`, () => {
      const all = name === 'no rule' ? [] : [everything, ...files];
      const error = hiddenFolder(cwd, place, policyOf('/w', { files: all, hidden: [glob] }), machine);
      assert.equal(error.kind, 'clause-unenforceable');
      assert.ok(error.message.startsWith(`The folder ${cwd} is not visible in the sandbox: `));
      assert.match(error.message, message);
      assert.match(error.hint, hint);
    });
  }
});
