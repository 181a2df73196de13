import { capitalize } from '../../base/capitalize.ts';
import type { Grant } from '../../runtime/approvals/grant.ts';
import { describeWidening } from '../../runtime/approvals/wideningWords.ts';
import { oneLine } from '../oneLine.ts';
import { timeWords } from '../timeWords.ts';

// What a person reads about grants.

/** What a grant opens, as the beginning of a sentence. */
export function grantLabel({ what }: Pick<Grant, 'what'>): string {
  return capitalize(oneLine(describeWidening(what), maxLength).text);
}

/** When it ends: "until 15:40", "until revoked". */
export function grantEnd({ until, lasts }: Pick<Grant, 'until' | 'lasts'>, now: Date): string {
  if (until !== undefined) {
    return `until ${timeWords(until, now)}`;
  }
  return lasts === 'session' ? 'until this window closes or reloads' : 'until revoked';
}

/** Where it counts and until when. */
export function grantDescription(grant: Grant, rootName: string, now: Date): string {
  return `${rootName} · ${grantEnd(grant, now)}`;
}

/** Since when, and for which command. */
export function grantOrigin({ grantedAt, because }: Pick<Grant, 'grantedAt' | 'because'>, now: Date): string {
  return `granted at ${timeWords(grantedAt, now)} for “${oneLine(because, maxLength).text}”`;
}

const maxLength = 200;
