import { describeWidening } from '../approvals/wideningWords.ts';
import type { AuditEntry } from './auditEntry.ts';
import { outcomeOf } from './auditFilter.ts';

const deciders = {
  policy: 'by the policy',
  rule: 'by a rule',
  grant: 'by a grant',
  person: 'by a person',
  expired: 'because nobody answered in time',
  nobody: 'because there was nobody to ask',
  gone: 'because the call was cancelled',
} as const;

/**
 * An entry for a person: a line with time, outcome and what it is about, and one with the rest. Nothing in it can
 * pass for a line of its own, or be drawn in another order than it is written.
 */
export function auditLines(entry: AuditEntry): readonly string[] {
  const [what, ...details] = wordsOf(entry).map(visible);
  const head = [localTime(entry.at), headOf(entry).padEnd(8), what].join('  ');
  const rest = details.filter((detail) => detail !== '').join(' · ');
  return rest === '' ? [head] : [head, `${' '.repeat(21)}${rest}`];
}

function headOf(entry: AuditEntry): string {
  return outcomeOf(entry) ?? (entry.kind === 'end' ? 'ended' : entry.kind);
}

function wordsOf(entry: AuditEntry): readonly string[] {
  switch (entry.kind) {
    case 'decision': {
      const { judgement, sandbox, by, cwd, owner, policy, reason } = entry;
      return [
        entry.command,
        judgement?.place === undefined ? deciders[by] : `${deciders[by]} (${judgement.place})`,
        reason ?? '',
        `for ${owner === 'agent' ? 'an agent' : 'a person'} in ${cwd}${machineOf(entry)}`,
        `${sandbox.where} the sandbox (${sandbox.mode})`,
        judgement === undefined ? '' : `class ${judgement.class}`,
        `policy ${policy.slice(0, 8)}`,
      ];
    }
    case 'takeover':
      return [
        entry.command,
        `session ${entry.session} was taken over by the window that was loaded next`,
        `in ${entry.cwd}${machineOf(entry)}`,
        `policy ${entry.policy.slice(0, 8)}`,
      ];
    case 'end':
      return [
        entry.command,
        failureWords(entry),
        entry.signal ?? (entry.exitCode === undefined ? '' : `exit code ${entry.exitCode}`),
        ...entry.denials.map(({ clause, path, host }) =>
          ['stopped', path ?? host, clause === undefined ? '' : `(${clause})`].filter(Boolean).join(' '),
        ),
        entry.findings === 0 ? '' : `${entry.findings} disarmed`,
        `${(entry.durationMs / 1000).toFixed(1)} s`,
        rootOf(entry),
      ];
    case 'grant': {
      const end =
        entry.until === undefined
          ? 'until revoked'
          : `until ${localTime(new Date(entry.until).toISOString())}`;
      return [
        describeWidening(entry.what),
        entry.lasts === 'session' ? 'for this window' : `for the folder, ${end}`,
        `for ${entry.because}`,
        rootOf(entry),
      ];
    }
    case 'revoke':
      return [describeWidening(entry.what), rootOf(entry)];
    case 'start':
      return [`process ${entry.pid} began a file`];
    case 'gap':
      return [`${entry.lost} entries are missing: the disk did not take them in time`];
  }
}

function failureWords({ failure, exitCode }: Extract<AuditEntry, { kind: 'end' }>): string {
  if (failure === undefined) {
    return '';
  }
  return exitCode === undefined ? `not started: ${failure}` : `lost: ${failure}`;
}

function machineOf({ environment }: { readonly environment?: string }): string {
  return environment === undefined ? '' : ` on ${environment}`;
}

/** The root is a folder here, wherever its commands run. */
function rootOf({ root, environment }: { readonly root: string; readonly environment?: string }): string {
  return environment === undefined ? `in ${root}` : `on ${environment}, for ${root}`;
}

/** `2026-11-30 09:05:07`, where the reader is. */
function localTime(iso: string): string {
  const time = new Date(iso);
  const two = (value: number): string => String(value).padStart(2, '0');
  const date = [time.getFullYear(), two(time.getMonth() + 1), two(time.getDate())].join('-');
  return `${date} ${[time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(':')}`;
}

/** Line ends, control characters and what turns the direction of writing are spelled out. */
function visible(text: string): string {
  return text
    .replaceAll(/\r?\n/g, ' ⏎ ')
    .replaceAll('\t', ' ')
    .replaceAll(
      /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
      (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
    );
}
