import type { SandboxError } from '../sandboxManager.ts';
import type { ProbeResult, SelfTestResult, Verdict } from './selfTest.ts';
import { isTrouble } from './selfTest.ts';

const marks: Readonly<Record<Verdict, string>> = {
  held: '✓',
  broken: '✗',
  lost: '✗',
  skipped: '–',
  failed: '✗',
};

/** The whole result on one page of text, which is Markdown, too. */
export function selfTestPage(result: SelfTestResult): string {
  const { policy, report, results } = result;
  const { launcher, version, path, landlockVersion } = report;
  return [
    `# Sandbox of ${policy.root}`,
    selfTestSummary(result),
    [
      `- Launcher: ${launcher}${launcher === 'bubblewrap' ? ` ${version}` : ''} (${path})`,
      `- Landlock of the kernel: ${landlockVersion === 0 ? 'none' : `version ${landlockVersion}`}`,
      `- Policy: ${policy.mode}, network ${policy.network}, /tmp ${policy.tmp}`,
    ].join('\n'),
    '## What was tried',
    'Each line is an attack that ran in the sandbox, and, where there is one, a harmless counterpart that must work.',
    results.map(resultLine).join('\n'),
    ...section('## Weaknesses', report.weaknesses),
    ...section('## What does not work under this launcher', report.losses),
    ...(results.some(isTrouble) ? ['## What to do', selfTestCure] : []),
    '',
  ].join('\n\n');
}

/** One sentence for a notification. */
export function selfTestSummary({ report, results }: SelfTestResult): string {
  const trouble = results.filter(isTrouble);
  const tried = results.filter(({ verdict }) => verdict !== 'skipped').length;
  return trouble.length === 0
    ? `The sandbox (${report.launcher}) held in all of ${tried} probes.`
    : `The sandbox (${report.launcher}) failed ${trouble.length} of ${tried} probes: ${trouble.map(({ probe }) => probe.name.toLowerCase()).join('; ')}.`;
}

/** Why the sandbox cannot be relied on, from a self-test; undefined when it can. */
export function selfTestTrouble(result: SelfTestResult): SandboxError | undefined {
  return result.results.some(isTrouble)
    ? { kind: 'self-test-failed', message: selfTestSummary(result), hint: selfTestCure }
    : undefined;
}

const selfTestCure =
  'Do not let agents run commands here until this is solved: update bubblewrap and the kernel, install the extension again, and if it stays, report it with this page.';

function resultLine({ probe, verdict, detail }: ProbeResult): string {
  const meaning: Readonly<Record<Verdict, string>> = {
    held: probe.proves,
    broken: `NOT refused, so it is not true that ${probe.proves}`,
    lost: `refused, but the sandbox is too tight`,
    skipped: 'not tried',
    failed: 'could not be tried',
  };
  return `- ${marks[verdict]} ${probe.name}: ${meaning[verdict]}${detail === undefined ? '' : ` (${detail})`}`;
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [title, lines.map((line) => `- ${line}`).join('\n')];
}
