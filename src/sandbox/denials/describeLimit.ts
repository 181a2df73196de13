import type { ResourceLimits } from '../policy/limits.ts';
import type { PolicySource, SandboxPolicy } from '../policy/policy.ts';
import type { Denial } from './denial.ts';

interface LimitSign {
  readonly limit: keyof ResourceLimits;
  /** 128 + the signal with which the kernel ends whoever exceeds it. */
  readonly exitCode?: number;
  readonly words?: RegExp;
  readonly message: (value: number) => string;
}

const signs: readonly LimitSign[] = [
  {
    limit: 'fileSizeMiB',
    exitCode: 153,
    words: /file size limit exceeded|file too large|\bEFBIG\b/i,
    message: (value) => `it wrote a file of more than ${value} MiB`,
  },
  {
    limit: 'cpuSeconds',
    exitCode: 152,
    words: /cpu time limit exceeded/i,
    message: (value) => `a process computed for more than ${value} seconds`,
  },
  {
    limit: 'processes',
    words:
      /resource temporarily unavailable|cannot fork|fork failed|can't start new thread|\bEAGAIN\b.*(?:fork|spawn|thread)/i,
    message: (value) => `it had ${value} processes and threads at once`,
  },
  {
    limit: 'memoryMiB',
    words: /cannot allocate memory|out of memory|bad_alloc|\bMemoryError\b|\bENOMEM\b/i,
    message: (value) => `it took more than ${value} MiB of memory`,
  },
];

/** The limit that a failed command likely ran into; undefined when nothing speaks for one that holds. */
export function describeLimit(output: string, exitCode: number, policy: SandboxPolicy): Denial | undefined {
  for (const { limit, exitCode: code, words, message } of signs) {
    const value = policy.limits[limit];
    const isSign = exitCode === code || words?.test(output) === true;
    if (value !== undefined && isSign) {
      return {
        certainty: exitCode === code ? 'known' : 'likely',
        clause: 'limits',
        message: `The sandbox ${exitCode === code ? 'ended' : 'likely stopped'} the command: ${message(value)}, which is its limit.`,
        hint: cure(limit, policy.sources.limits),
      };
    }
  }
  return undefined;
}

function cure(limit: keyof ResourceLimits, source: PolicySource): string {
  return source === 'managed'
    ? "The limit is the administrator's."
    : `If it needs more, ask the user to raise cordon.sandbox.limits.${limit}, or to set it to null for no limit.`;
}
