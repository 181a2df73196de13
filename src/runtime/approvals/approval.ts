import type { Widening } from '../../sandbox/policy/widening.ts';
import type { Root } from '../roots.ts';
import type { GrantScope } from './grant.ts';

/** What a person, or nobody, says to a question. */
export type Answer = Allowed | Denied;

export interface Allowed {
  readonly kind: 'allow';
  /** What the command may do beyond the policy; empty: it runs as the policy says. */
  readonly widenings: readonly Widening[];
  readonly lasts: 'once' | GrantScope;
  /** How long the widenings last, in milliseconds; absent: as long as `lasts` says. */
  readonly forMs?: number;
  /** Commands that begin so are not asked about again, as long as `lasts` says. */
  readonly prefix?: readonly string[];
  /** The very same question is not asked again in this session. */
  readonly isRemembered?: boolean;
}

export interface Denied {
  readonly kind: 'deny';
  /** `expired`: nobody answered in time. `nobody`: there is no one to ask. `gone`: the caller gave up. */
  readonly by: 'person' | 'expired' | 'nobody' | 'gone';
  readonly comment?: string;
}

/** One of the answers that a question offers. */
export interface Offer {
  /** Unique among the offers of one question. */
  readonly id: string;
  /** As on a button. */
  readonly label: string;
  readonly detail: string;
  readonly answer: Answer;
}

/** A question about one command of an agent. */
export interface ApprovalRequest {
  /** Who asks: the name of the agent's front end. */
  readonly owner: string;
  readonly root: Root;
  readonly commandLine: string;
  readonly cwd: string;
  /** A short question. */
  readonly title: string;
  /** Why it is asked, with the rule or setting that is nearest. */
  readonly reason: string;
  /** The agent's own words. */
  readonly justification?: string;
  /** The one that comes first is the narrowest yes; the last is the no. */
  readonly offers: readonly Offer[];
  /** Exactly what is asked about: a kept answer counts for the same text only. */
  readonly scope: string;
}

export interface Approval extends ApprovalRequest {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly askedAt: number;
  readonly expiresAt: number;
  /** `interrupted`: the call that asked ended with a reload; an answer is kept for the next one that asks the same. */
  readonly state: 'waiting' | 'interrupted';
}
