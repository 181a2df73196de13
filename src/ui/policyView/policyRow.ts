import type { Grant } from '../../runtime/approvals/grant.ts';
import type { PolicySource } from '../../sandbox/policy/policy.ts';
import { sourceWords } from '../policyWords.ts';
import type { Change } from './change.ts';

/** A row below a root: what it is about, its value, and whose word that is. Texts may be of anybody's making. */
export interface PolicyRow {
  /** Unique among all rows of a root, and the same as long as the row is about the same. */
  readonly id: string;
  readonly label: string;
  readonly value: string;
  readonly source?: string;
  /** Sentences that say what it means. */
  readonly detail: readonly string[];
  /** The name of a theme icon. */
  readonly icon: string;
  readonly tone?: 'warning' | 'error';
  readonly change?: Change;
  readonly grant?: Grant;
  readonly rows: readonly PolicyRow[];
}

type Optional = 'value' | 'detail' | 'rows';

/** A row of which only what is particular has to be said. */
export function row(of: Omit<PolicyRow, Optional | 'source'> & RowExtras): PolicyRow {
  const { source, ...rest } = of;
  return { value: '', detail: [], rows: [], ...rest, ...(source && { source: sourceWords[source] }) };
}

interface RowExtras extends Partial<Pick<PolicyRow, Optional>> {
  readonly source?: PolicySource;
}

/** "none", "1 host", "2 hosts". */
export function counted(count: number, one: string): string {
  return count === 0 ? 'none' : `${count} ${one}${count === 1 ? '' : 's'}`;
}
