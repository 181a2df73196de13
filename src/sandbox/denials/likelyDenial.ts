import { PhraseScanner, phraseTable } from '../phraseScanner.ts';
import type { SandboxType } from '../sandboxManager.ts';

/** The keywords of the reference (exec-server protocol): one of them and a failure make a denial likely. */
const denialKeywords = phraseTable([
  'operation not permitted',
  'permission denied',
  'read-only file system',
  'seccomp',
  'sandbox',
  'landlock',
  'failed to write file',
]);

/**
 * How programs say that there is no network. This goes beyond the reference, which does not see a command that
 * failed for want of the network; it only counts when the policy has the network off.
 */
const networkKeywords = phraseTable([
  'could not resolve',
  "couldn't connect",
  'failed to connect',
  'connection refused',
  'network is unreachable',
  'network unreachable',
  'temporary failure in name resolution',
  'name or service not known',
  'unable to resolve host',
  'eai_again',
  'enotfound',
  'econnrefused',
  'enetunreach',
]);

/** Exit codes with which shells and getopt users report their own troubles: usage, not executable, not found. */
const ordinaryFailures: ReadonlySet<number> = new Set([2, 126, 127]);
/** 128 + SIGSYS: killed by a seccomp filter. */
const killedBySeccomp = 159;

/** Reads a command's output, all streams in order of arrival, for signs of a denial. */
export class DenialScanner {
  readonly #denial = new PhraseScanner(denialKeywords);
  readonly #network: PhraseScanner | undefined;

  /** `isNetworkOff`: signs of a missing network count, too. */
  constructor(options: { readonly isNetworkOff?: boolean } = {}) {
    this.#network = options.isNetworkOff === true ? new PhraseScanner(networkKeywords) : undefined;
  }

  push(chunk: Uint8Array): void {
    this.#denial.push(chunk);
    this.#network?.push(chunk);
  }

  get hasKeyword(): boolean {
    return this.#denial.isFound;
  }

  get hasNetworkKeyword(): boolean {
    return this.#network?.isFound ?? false;
  }
}

export interface DenialEvidence {
  readonly exitCode: number;
  /** Absent means that there was one; `none` can deny nothing. */
  readonly sandbox?: SandboxType;
  /** What was read of the output: a scanner that saw it, or the bounded text itself. */
  readonly scanner?: DenialScanner;
  readonly output?: string;
  /** Only with `output`; a scanner knows. */
  readonly isNetworkOff?: boolean;
}

/**
 * Whether the sandbox likely stopped something: a guess from exit code and output, in the order of the reference.
 * False for a command that succeeded, whatever it printed.
 */
export function isLikelyDenied(evidence: DenialEvidence): boolean {
  const { exitCode } = evidence;
  if (evidence.sandbox === 'none' || exitCode === 0) {
    return false;
  }
  const scanner = evidence.scanner ?? scan(evidence.output ?? '', evidence.isNetworkOff ?? false);
  if (scanner.hasKeyword || scanner.hasNetworkKeyword) {
    return true;
  }
  return !ordinaryFailures.has(exitCode) && exitCode === killedBySeccomp;
}

/** Whether the likely reason of a failure is that the policy has the network off. */
export function isLikelyNetworkDenied(evidence: Omit<DenialEvidence, 'scanner'>): boolean {
  return (
    evidence.sandbox !== 'none' &&
    evidence.exitCode !== 0 &&
    evidence.isNetworkOff === true &&
    scan(evidence.output ?? '', true).hasNetworkKeyword
  );
}

function scan(output: string, isNetworkOff: boolean): DenialScanner {
  const scanner = new DenialScanner({ isNetworkOff });
  scanner.push(Buffer.from(output));
  return scanner;
}
