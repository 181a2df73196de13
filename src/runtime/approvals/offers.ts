import { capitalize } from '../../base/capitalize.ts';
import type { Widening } from '../../sandbox/policy/widening.ts';
import { quoteWords } from '../../sandbox/commands/quoteWords.ts';
import type { Root } from '../roots.ts';
import type { Answer, Offer } from './approval.ts';
import { describeWidenings } from './wideningWords.ts';

const hourMs = 60 * 60_000;

const denial: Offer = {
  id: 'deny',
  label: "Don't Run",
  detail: 'The agent is told that you declined.',
  answer: { kind: 'deny', by: 'person' },
};

/** The answers to a question before a command runs: narrowest yes first, no last. */
export function offersBefore({
  widenings,
  prefix,
  root,
}: {
  readonly widenings: readonly Widening[];
  /** Commands that begin so may be allowed for good. */
  readonly prefix: readonly string[] | undefined;
  readonly root: Root;
}): readonly Offer[] {
  if (widenings.length > 0) {
    return [
      ...wideningOffers(widenings, root, 'Allow'),
      {
        id: 'inside',
        label: 'Run Without It',
        detail: 'Runs in the sandbox as it is.',
        answer: { kind: 'allow', widenings: [], lasts: 'once' },
      },
      denial,
    ];
  }
  return [
    {
      id: 'once',
      label: 'Run Once',
      detail: 'You are asked again the next time.',
      answer: { kind: 'allow', widenings: [], lasts: 'once' },
    },
    {
      id: 'remember',
      label: "Run, and Don't Ask Again for Exactly This",
      detail: 'Until the window closes or reloads: the same command in the same folder.',
      answer: { kind: 'allow', widenings: [], lasts: 'once', isRemembered: true },
    },
    ...(prefix === undefined ? [] : prefixOffers(prefix, root)),
    denial,
  ];
}

/** The answers to a question about one program of a script. */
export function offersForPart({
  widenings,
  mayLeave,
}: {
  readonly widenings: readonly Widening[];
  readonly mayLeave: boolean;
}): readonly Offer[] {
  const what = describeWidenings(widenings);
  const inside: Answer = { kind: 'allow', widenings: [], lasts: 'once' };
  const narrow: Answer = { kind: 'allow', widenings, lasts: 'once' };
  return [
    ...(widenings.length === 0
      ? []
      : [
          {
            id: 'once',
            label: 'Allow Once',
            detail: `${capitalize(what)}: for this part only, in a sandbox of its own, without hooks of git.`,
            answer: narrow,
          },
        ]),
    {
      id: 'inside',
      label: 'Run in the Sandbox',
      detail: 'As the rest of the script, with nothing more.',
      answer: inside,
    },
    {
      id: 'remember',
      label: "Run, and Don't Ask Again for Exactly This",
      detail: `${widenings.length === 0 ? 'In the sandbox of its script' : capitalize(what)}: until the window closes or reloads, for the same words in the same folder.`,
      answer: { ...narrow, isRemembered: true },
    },
    ...(mayLeave
      ? [
          {
            ...unsandboxedOffer('Run Without the Sandbox Once'),
            detail:
              'For this part only: it can change any file of yours and reach every network, and so can what it runs of this folder. Hooks of git do not run.',
          },
        ]
      : []),
    { ...denial, detail: 'The script is told that you declined, and goes on as it likes.' },
  ];
}

/** The answers to a question after the sandbox stopped a command. */
export function offersAfter(
  fixes: readonly Widening[],
  { root, mayLeave }: { readonly root: Root; readonly mayLeave: boolean },
): readonly Offer[] {
  return [
    ...(fixes.length === 0 ? [] : wideningOffers(fixes, root, 'Allow and Run Again')),
    ...(mayLeave ? [unsandboxedOffer('Run Again Without the Sandbox')] : []),
    { ...denial, label: 'Leave It Denied', detail: 'The agent gets the output with the reason.' },
  ];
}

/** How long stands first in the details: a path can be so long that a list cuts off what comes after it. */
function wideningOffers(widenings: readonly Widening[], root: Root, verb: string): readonly Offer[] {
  if (widenings.some(({ kind }) => kind === 'unsandboxed')) {
    return [unsandboxedOffer('Run Without the Sandbox Once')];
  }
  const what = describeWidenings(widenings);
  return [
    {
      id: 'once',
      label: `${verb} Once`,
      detail: `For this command only: ${what}.`,
      answer: { kind: 'allow', widenings, lasts: 'once' },
    },
    {
      id: 'session',
      label: `${verb} for This Session`,
      detail: `Until the window closes or reloads, for every command of ${root.name}: ${what}.`,
      answer: { kind: 'allow', widenings, lasts: 'session' },
    },
    {
      id: 'hour',
      label: `${verb} for an Hour`,
      detail: `For an hour, for every command of ${root.name}: ${what}.`,
      answer: { kind: 'allow', widenings, lasts: 'root', forMs: hourMs },
    },
    {
      id: 'root',
      label: `${verb} in This Folder`,
      detail: `Until you revoke it, for every command of ${root.name}: ${what}.`,
      answer: { kind: 'allow', widenings, lasts: 'root' },
    },
  ];
}

function prefixOffers(prefix: readonly string[], root: Root): readonly Offer[] {
  const words = quoteWords(prefix);
  return [
    {
      id: 'prefix-session',
      label: `Run “${words} …” Without Asking for This Session`,
      detail: 'Commands that begin so, in the sandbox, until the window closes or reloads.',
      answer: { kind: 'allow', widenings: [], lasts: 'session', prefix },
    },
    {
      id: 'prefix-root',
      label: `Run “${words} …” Without Asking in This Folder`,
      detail: `Commands that begin so, in the sandbox of ${root.name}, until you revoke it.`,
      answer: { kind: 'allow', widenings: [], lasts: 'root', prefix },
    },
  ];
}

function unsandboxedOffer(label: string): Offer {
  return {
    id: 'unsandboxed',
    label,
    detail: 'For this command only: it can change any file of yours and reach every network.',
    answer: { kind: 'allow', widenings: [{ kind: 'unsandboxed' }], lasts: 'once' },
  };
}
