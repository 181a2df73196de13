/** Where our answers differ from the peer's on purpose. */
export interface IntendedDifference {
  readonly scripts: readonly string[];
  /** Of the fields that differ. */
  readonly place: RegExp;
  readonly why: string;
}

export const intendedDifferences: readonly IntendedDifference[] = [
  {
    scripts: [
      'environment',
      'starts that fail',
      'pipes',
      'terminals',
      'signals and ends',
      'reads and writes',
      'sandboxes',
    ],
    place: /\.cordon\./,
    why: 'members of that name are for our own client, and ignored by others',
  },
  {
    scripts: ['terminals'],
    place: /^environment: events\.pty$/,
    why: 'a terminal has TERM and PWD, which programs on it need',
  },
  {
    scripts: ['pipes'],
    place: /^session: /,
    why: 'in front of the command, as leader, stands who ends its daemons with it',
  },
  {
    scripts: ['http'],
    place: /^(get|post|redirect)\.body$|^deltas$/,
    why: 'accept-encoding has a blank after its comma',
  },
  {
    scripts: ['sandboxes'],
    place: /^(missing program|not executable): events\.stderr$/,
    why: 'the words of who starts the program',
  },
  {
    scripts: ['sandboxes'],
    place: /^(missing program|not executable): events\.exited\[0\]\.sandboxDenied$/,
    why: 'the words of the peer’s own panic name its sandbox, which it takes for a denial; nothing was denied',
  },
  {
    scripts: ['files in sandboxes'],
    place: /^look at denied$/,
    why: 'of what is denied not even the existence is told; the peer describes the mask in its place',
  },
  {
    scripts: ['discovery'],
    place: /^config\.codexHomeDir$/,
    why: 'each has a home of its own',
  },
];
