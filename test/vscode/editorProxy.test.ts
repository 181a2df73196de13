import assert from 'node:assert/strict';
import type { Server } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as vscode from 'vscode';
import { exec } from './callTool.ts';

/** A proxy that answers itself for every host, and notes what it was asked for. */
interface Proxy {
  readonly url: string;
  readonly asked: string[];
  readonly server: Server;
}

async function startProxy(name: string): Promise<Proxy> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.url} ${request.headers['proxy-authorization'] ?? ''}`);
    response.end(`by ${name}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://ada:pw@127.0.0.1:${(server.address() as AddressInfo).port}`, asked, server };
}

describe('the proxy that the editor is behind', () => {
  const host = 'cordon-test.invalid';
  const settings: Record<string, unknown> = {
    'cordon.sandbox.network': 'allow-list',
    'cordon.sandbox.hosts': { [host]: 'allow' },
  };
  let persons: Proxy;
  let workspaces: Proxy;

  const set = async (
    values: Readonly<Record<string, unknown>>,
    target = vscode.ConfigurationTarget.Global,
  ): Promise<void> => {
    for (const [name, value] of Object.entries(values)) {
      await vscode.workspace.getConfiguration().update(name, value, target);
    }
  };
  const ask = (): Promise<string> => exec(`curl -s -m 20 -w '[%{http_code}]' http://${host}/x`);

  before(async () => {
    [persons, workspaces] = [await startProxy('the person’s'), await startProxy('the workspace’s')];
    await set(settings);
  });
  after(async () => {
    await set(Object.fromEntries(Object.keys(settings).map((name) => [name, undefined])));
    [persons, workspaces].forEach(({ server }) => server.close());
  });
  afterEach(async () => {
    await set({
      ...{ 'http.proxy': undefined, 'http.noProxy': undefined },
      ...{ 'http.proxyAuthorization': undefined, 'http.proxySupport': undefined },
    });
    [persons, workspaces].forEach(({ asked }) => asked.splice(0));
  });

  it('is asked for what the allow-list lets through, with its credentials, which commands do not see', async () => {
    await set({ 'http.proxy': persons.url });
    assert.match(await ask(), /by the person’s\[200\]/);
    const credentials = Buffer.from('ada:pw').toString('base64');
    assert.deepEqual(persons.asked, [`http://${host}/x Basic ${credentials}`]);
    assert.doesNotMatch(await exec('env; cat /proc/*/environ'), /ada:pw/);
  });

  it('gets the authorization that the person has set for it, in place of credentials of its address', async () => {
    await set({ 'http.proxy': persons.url, 'http.proxyAuthorization': 'Token sesame' });
    assert.match(await ask(), /by the person’s\[200\]/);
    assert.deepEqual(persons.asked, [`http://${host}/x Token sesame`]);
    assert.doesNotMatch(await exec('env; cat /proc/*/environ'), /sesame/);
  });

  it('is not asked where the person has switched the support of proxies off', async () => {
    await set({ 'http.proxy': persons.url, 'http.proxySupport': 'off' });
    assert.doesNotMatch(await ask(), /\[200\]/);
    assert.deepEqual(persons.asked, []);
  });

  it('is not asked for what the person excepts, nor without the setting', async () => {
    await set({ 'http.proxy': persons.url, 'http.noProxy': [host] });
    assert.doesNotMatch(await ask(), /\[200\]/);
    await set({ 'http.proxy': undefined, 'http.noProxy': undefined });
    assert.doesNotMatch(await ask(), /\[200\]/);
    assert.deepEqual(persons.asked, []);
  });

  it('is not chosen by the workspace', async () => {
    const { Workspace } = vscode.ConfigurationTarget;
    await set({ 'http.proxy': persons.url });
    // The editor may refuse to write it there; a repository brings it along in its file.
    await set({ 'http.proxy': workspaces.url }, Workspace).catch(() => undefined);
    try {
      assert.match(await ask(), /by the person’s/);
    } finally {
      await set({ 'http.proxy': undefined }, Workspace).catch(() => undefined);
    }
    assert.deepEqual(workspaces.asked, []);
  });
});
