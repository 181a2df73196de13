import * as vscode from 'vscode';
import { DisposableStore } from '../../base/disposable.ts';
import type { Disposable } from '../../base/disposable.ts';
import type { GrantStore } from '../../runtime/approvals/grantStore.ts';
import type { Root } from '../../runtime/roots.ts';
import type { PolicyStore } from '../policyStore.ts';
import type { SandboxHealth } from '../sandboxHealth.ts';
import { rootItem, rowItem } from './policyItems.ts';
import type { PolicyRow } from './policyRow.ts';
import { policyRows } from './policyRows.ts';

/** A row: a root, or something that holds in it. */
export type PolicyNode =
  | { readonly kind: 'root'; readonly root: Root }
  | { readonly kind: 'row'; readonly root: Root; readonly row: PolicyRow; readonly parent: PolicyNode };

export interface PolicyTreeOptions {
  readonly policies: PolicyStore;
  readonly grants: GrantStore;
  readonly health: SandboxHealth;
}

/** What the view "Policy" shows: per root what commands may do, clause by clause, with whose word that is. */
export class PolicyTree implements vscode.TreeDataProvider<PolicyNode>, Disposable {
  readonly #options: PolicyTreeOptions;
  readonly #store = new DisposableStore();
  readonly #didChange = this.#store.add(new vscode.EventEmitter<undefined>());
  readonly onDidChangeTreeData = this.#didChange.event;

  constructor(options: PolicyTreeOptions) {
    this.#options = options;
    // Of grants, too: they change policies.
    this.#store.add(options.policies.onDidChange(() => this.refresh()));
    this.#store.add(options.health.onDidChange(() => this.refresh()));
  }

  async getChildren(node?: PolicyNode): Promise<PolicyNode[]> {
    if (node === undefined) {
      return this.#options.policies.list().map((root) => ({ kind: 'root', root }));
    }
    const rows = node.kind === 'root' ? await this.#rowsOf(node.root) : node.row.rows;
    return rows.map((row) => ({ kind: 'row', root: node.root, row, parent: node }));
  }

  getParent(node: PolicyNode): PolicyNode | undefined {
    return node.kind === 'root' ? undefined : node.parent;
  }

  getTreeItem(node: PolicyNode): vscode.TreeItem {
    if (node.kind === 'row') {
      return rowItem(node.root, node.row);
    }
    const { policies, health } = this.#options;
    const policy = policies.policyFor(node.root);
    const expanded = policies.active() ?? policies.list()[0];
    return rootItem(node.root, policy, {
      isExpanded: node.root.path === expanded?.path,
      trouble: policy.ok && node.root.environment === undefined ? health.errorFor(policy.value) : undefined,
    });
  }

  refresh(): void {
    this.#didChange.fire(undefined);
  }

  dispose(): void {
    this.#store.dispose();
  }

  async #rowsOf(root: Root): Promise<readonly PolicyRow[]> {
    const { policies, grants } = this.#options;
    return policyRows({
      policy: policies.policyFor(root),
      approval: policies.approvalPolicyFor(root),
      rules: await policies.rulesFor(root),
      grants: grants.list(root),
      parentEnv: root.environment === undefined ? process.env : undefined,
      now: new Date(),
    });
  }
}
