import * as vscode from 'vscode';
import type { Upstream } from '../sandbox/network/upstream.ts';
import { upstreamFromSettings } from '../sandbox/network/upstream.ts';

/**
 * The proxy that the person's own settings put the editor behind, else the one of the usual variables. What a
 * workspace says does not count: it could lead every request of its commands through a machine of its choice.
 */
export function editorProxy(): Upstream | undefined {
  const settings = vscode.workspace.getConfiguration('http');
  const own = (name: string): unknown => settings.inspect(name)?.globalValue;
  return upstreamFromSettings(
    {
      ...{ proxy: own('proxy'), noProxy: own('noProxy') },
      ...{ proxyAuthorization: own('proxyAuthorization'), proxySupport: own('proxySupport') },
    },
    process.env,
  );
}
