import assert from 'node:assert/strict';
import type * as z from 'zod';
import { sshSettings } from '../../../../src/runtime/environments/ssh/sshSettings.ts';
import { launchScript, sshArguments } from '../../../../src/runtime/environments/ssh/sshCommand.ts';
import { urlSettings } from '../../../../src/runtime/environments/urlEnvironment.ts';

function problemOf(schema: z.ZodType, settings: object): string {
  return schema.safeParse(settings).error?.issues[0]?.message ?? 'none';
}

describe('the settings of an environment of type ssh', () => {
  const settings = { host: 'build', folder: '/srv/project' };

  for (const host of ['build', 'me@build.example', 'ssh://me@build.example:2222', '[::1]', 'fe80::1%eth0']) {
    it(`take the host ${host}`, () => {
      assert.equal(problemOf(sshSettings, { ...settings, host }), 'none');
    });
  }
  for (const host of [
    '-oProxyCommand=evil',
    '',
    'a b',
    'a;evil',
    '$(evil)',
    'a\nb',
    "a'b",
    '`evil`',
    'a|b',
  ]) {
    it(`refuse the host ${JSON.stringify(host)}`, () => {
      assert.notEqual(problemOf(sshSettings, { ...settings, host }), 'none');
    });
  }

  it('want absolute paths', () => {
    assert.match(problemOf(sshSettings, { ...settings, folder: 'project' }), /absolute/);
    assert.match(problemOf(sshSettings, { ...settings, folder: '~/project' }), /absolute/);
    assert.match(problemOf(sshSettings, { ...settings, installFolder: 'x' }), /absolute/);
    assert.equal(sshSettings.parse({ ...settings, folder: '/srv/../srv/project/' }).folder, '/srv/project');
  });

  it('put the host behind the end of the options', () => {
    const args = sshArguments('build', 10);
    assert.equal(args.at(-2), 'build');
    assert.equal(args.at(-3), '--');
  });

  it('say to every login shell the same', () => {
    const [inner = ''] = /'(.*)'$/s.exec(sshArguments('build', 123_456).at(-1) ?? '')?.slice(1) ?? [];
    assert.ok(inner.length > 0);
    assert.doesNotMatch(inner, /['\\!\n]/);
  });

  it('are words for the shell on the host, whatever they hold', () => {
    assert.ok(launchScript('w', 1, `/a'; evil #`).includes(`node='/a'\\''; evil #'`));
  });
});

describe('the settings of an environment of type url', () => {
  const settings = { url: 'wss://build.example', folder: '/srv/project' };

  for (const url of ['wss://build.example', 'ws://127.0.0.1:4711', 'ws://[::1]:4711', 'ws://localhost:1']) {
    it(`take ${url}`, () => {
      assert.equal(problemOf(urlSettings, { ...settings, url }), 'none');
    });
  }
  for (const url of ['ws://build.example', 'ws://10.0.0.1:1', 'ws://127.0.0.1.example', 'ws://0.0.0.0:1']) {
    it(`take ${url} only when the person takes the risk`, () => {
      assert.match(problemOf(urlSettings, { ...settings, url }), /allowUnencrypted/);
      assert.equal(problemOf(urlSettings, { ...settings, url, allowUnencrypted: true }), 'none');
    });
  }
  for (const url of [
    'http://build.example',
    'build',
    'wss://me:secret@build',
    'wss://build/?token=1',
    'wss://b#t',
  ]) {
    it(`refuse ${url}`, () => {
      assert.match(
        problemOf(urlSettings, { ...settings, url, allowUnencrypted: true }),
        /must be an address/,
      );
    });
  }

  it('have no place for the token itself', () => {
    assert.notEqual(problemOf(urlSettings, { ...settings, token: 'secret' }), 'none');
  });
});
