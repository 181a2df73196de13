import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import type { Log } from '../../src/base/log.ts';
import { GrantStore } from '../../src/runtime/approvals/grantStore.ts';
import type { Session } from '../../src/runtime/sessions/session.ts';
import type { SandboxError } from '../../src/sandbox/sandboxManager.ts';
import { makeChange } from '../../src/ui/policyView/makeChange.ts';
import type { PolicyNode } from '../../src/ui/policyView/policyTree.ts';
import { PolicyTree } from '../../src/ui/policyView/policyTree.ts';
import { EnvironmentChoices } from '../../src/ui/environments/environmentChoices.ts';
import { PolicyStore } from '../../src/ui/policyStore.ts';
import { RemotePolicies } from '../../src/runtime/machines/remotePolicies.ts';
import { RootChoices } from '../../src/ui/rootChoices.ts';
import type { SandboxHealth } from '../../src/ui/sandboxHealth.ts';
import { sessionItem } from '../../src/ui/sessions/sessionTree.ts';
import { policyOf } from '../harness/policyOf.ts';
import { waitFor } from '../harness/waitFor.ts';

const quiet = { debug: () => {} } as unknown as Log;
const hostile = '[ok](command:workbench.action.quit) **x** $(trash) `y`\nrm -rf ~ \u202e#';

describe('the view of the policy', () => {
  let choices: RootChoices;
  let environments: EnvironmentChoices;
  let grants: GrantStore;
  let policies: PolicyStore;
  let tree: PolicyTree;
  let trouble: SandboxError | undefined;

  beforeEach(() => {
    const stored = new Map<string, unknown>();
    const storage = {
      get: (key: string) => stored.get(key),
      update: async (key: string, value: unknown) => void stored.set(key, value),
    };
    choices = new RootChoices(storage);
    environments = new EnvironmentChoices(storage);
    grants = new GrantStore();
    policies = new PolicyStore(choices, environments, new RemotePolicies(), grants, quiet);
    trouble = undefined;
    const health = { errorFor: () => trouble, onDidChange: () => ({ dispose: () => {} }) };
    tree = new PolicyTree({ policies, grants, health: health as unknown as SandboxHealth });
  });
  afterEach(() => {
    tree.dispose();
    policies.dispose();
    grants.dispose();
    environments.dispose();
    choices.dispose();
  });

  const rootNode = async (): Promise<PolicyNode> => {
    const [node] = await tree.getChildren();
    assert.ok(node !== undefined);
    return node;
  };
  const child = async (parent: PolicyNode, label: string): Promise<PolicyNode & { readonly kind: 'row' }> => {
    const nodes = await tree.getChildren(parent);
    const found = nodes.find((node) => node.kind === 'row' && node.row.label === label);
    assert.ok(found?.kind === 'row', label);
    return found;
  };
  const described = async (label: string): Promise<unknown> =>
    tree.getTreeItem(await child(await rootNode(), label)).description;

  it('begins with the folder, expanded, and what holds there in a few words', async () => {
    const item = tree.getTreeItem(await rootNode());
    assert.equal(item.description, 'Workspace write · network off');
    assert.equal(item.collapsibleState, vscode.TreeItemCollapsibleState.Expanded);
    assert.equal((item.iconPath as vscode.ThemeIcon).id, 'shield');
    assert.match(item.accessibilityInformation?.label ?? '', /^Sandbox of .*, Workspace write, network off$/);
  });

  it('follows a choice, and is loud without a sandbox', async () => {
    const changed = new Promise((resolve) => tree.onDidChangeTreeData(resolve));
    const { root } = await rootNode();
    await choices.set(root.path, { mode: 'danger-full-access' });
    await changed;
    const item = tree.getTreeItem(await rootNode());
    assert.equal(item.description, 'No sandbox');
    assert.equal((item.iconPath as vscode.ThemeIcon).id, 'warning');
    assert.equal(await described('Mode'), 'No sandbox · your choice here');
  });

  it('says that nothing enforces it', async () => {
    trouble = { kind: 'bubblewrap-missing', message: 'There is none.', hint: 'Install it.' };
    const item = tree.getTreeItem(await rootNode());
    assert.equal(item.description, 'Workspace write · network off · not enforced');
    assert.equal((item.iconPath as vscode.ThemeIcon).id, 'error');
  });

  it('shows an invalid setting with the way there', async () => {
    const settings = vscode.workspace.getConfiguration();
    await settings.update('cordon.sandbox.git', 'sometimes', vscode.ConfigurationTarget.Global);
    try {
      await waitFor(
        'the setting',
        async () => tree.getTreeItem(await rootNode()).description === 'invalid setting',
      );
      const node = await child(await rootNode(), 'cordon.sandbox.git');
      const item = tree.getTreeItem(node);
      assert.match(String(item.description), /"sometimes"/);
      assert.equal(item.contextValue, 'policy-editable');
      assert.deepEqual(node.row.change, { kind: 'setting', name: 'cordon.sandbox.git' });
    } finally {
      await settings.update('cordon.sandbox.git', undefined, vscode.ConfigurationTarget.Global);
    }
  });

  it('shows a grant until it is revoked, with its effect in the clause', async () => {
    const { root } = await rootNode();
    await grants.add({
      root: root.path,
      what: { kind: 'host', host: 'example.org' },
      lasts: 'session',
      because: hostile,
    });
    assert.equal(await described('Hosts'), '1 host · your choice here');
    const node = await child(await child(await rootNode(), 'Grants'), 'Connections to example.org');
    const item = tree.getTreeItem(node);
    assert.equal(item.contextValue, 'policy-grant');
    assert.match(
      String(item.description),
      /until this window closes or reloads · for “\[ok\].* ↵ rm -rf ~ \\u\{202e\}#”/,
    );
    const { value, isTrusted } = item.tooltip as vscode.MarkdownString;
    assert.ok(!value.includes('](command') && isTrusted !== true, value);
    await grants.revoke([node.row.grant?.id ?? '']);
    assert.equal(await described('Grants'), 'none');
    assert.equal(await described('Hosts'), 'none, not in use · default');
  });

  it('gives every row a parent and an id of its own', async () => {
    const ids: string[] = [];
    const visit = async (node: PolicyNode): Promise<void> => {
      ids.push(String(tree.getTreeItem(node).id));
      for (const below of await tree.getChildren(node)) {
        assert.equal(tree.getParent(below), node);
        await visit(below);
      }
    };
    await visit(await rootNode());
    assert.ok(ids.length > 30);
    assert.equal(new Set(ids).size, ids.length);
  });

  it('says whose word it is where it is not the person’s', async () => {
    const { root } = await rootNode();
    const shown: string[] = [];
    const original = vscode.window.showInformationMessage;
    Object.assign(vscode.window, { showInformationMessage: async (text: string) => void shown.push(text) });
    try {
      await makeChange({ kind: 'workspace', setting: 'cordon.sandbox.git' }, root);
      await makeChange({ kind: 'managed' }, root);
    } finally {
      Object.assign(vscode.window, { showInformationMessage: original });
    }
    assert.match(shown[0] ?? '', /settings of the workspace itself are stricter/);
    assert.match(shown[1] ?? '', /administrator of this machine decides this, in .*policy\.json/);
  });
});

describe('the rows of sessions', () => {
  const session = (more: object = {}): Session =>
    ({
      id: 4711,
      commandLine: hostile,
      cwd: '/w',
      root: { name: 'w', path: '/w' },
      policy: policyOf('/w'),
      isUnsandboxed: false,
      owner: 'agent',
      startedAt: new Date(),
      state: { kind: 'running' },
      denials: () => [],
      ...more,
    }) as unknown as Session;
  const exited = (exitCode: number, signal?: string) => ({
    state: { kind: 'exited', exitCode, signal, sandboxDenied: false, durationMs: 10 },
  });

  it('show nothing of the command as formatting, links or hidden text', () => {
    const shown = session();
    const item = sessionItem(shown, new Date());
    assert.equal(item.label, '[ok](command:workbench.action.quit) **x** $(trash) `y` ↵ rm -rf ~ \\u{202e}#');
    const { value, isTrusted } = item.tooltip as vscode.MarkdownString;
    assert.match(value, /```shellscript\n\[ok\]/);
    assert.ok(isTrusted !== true);
    assert.equal(item.contextValue, 'session-running');
    assert.deepEqual(item.command?.arguments, [shown]);
    assert.match(item.accessibilityInformation?.label ?? '', /, running a moment, .*, by an agent, 4711$/);
  });

  it('tell by their icons how it stands, and above all that there is no sandbox', () => {
    const iconOf = (more: object): string =>
      (sessionItem(session(more), new Date()).iconPath as vscode.ThemeIcon).id;
    assert.equal(iconOf({}), 'play-circle');
    assert.equal(iconOf(exited(0)), 'pass');
    assert.equal(iconOf(exited(1)), 'error');
    assert.equal(iconOf(exited(143, 'SIGTERM')), 'debug-stop');
    assert.equal(iconOf({ ...exited(1), denials: () => [{ message: 'No.' }] }), 'circle-slash');
    assert.equal(iconOf({ isUnsandboxed: true }), 'warning');
  });

  it('offer what the sandbox stopped only where it did', () => {
    const denied = session({ ...exited(1), denials: () => [{ message: 'No.' }] });
    assert.equal(sessionItem(denied, new Date()).contextValue, 'session-ended-denied');
    assert.equal(sessionItem(session(exited(0)), new Date()).contextValue, 'session-ended');
  });
});
