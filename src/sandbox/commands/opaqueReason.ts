/** Why a command line counts as opaque, and the end of the sentence "… because it". */
export const opaqueReasons = {
  empty: 'is empty',
  'too-long': 'is too long to be read',
  'too-deep': 'has shells in shells in shells',
  'unknown-shell': 'is for a shell that is not known',
  syntax: 'is not understood',
  characters: 'has characters that shells or people may read in another way',
  quoting: 'has quotes that shells read in different ways',
  expansion: 'has words with variables',
  substitution: 'has words that are the output of other commands',
  tilde: 'has words that a shell replaces with folders or programs',
  glob: 'has patterns that a shell replaces with file names',
  braces: 'has braces, which make several words of one',
  redirection: 'reads from files or writes to them',
  'here-document': 'has a here-document that does more than feed one command',
  grouping: 'has parentheses',
  assignment: 'sets variables',
  keyword: 'has loops, conditions or other words of the shell',
  background: 'runs commands in the background',
  'shell-state': 'changes how the shell reads what follows',
  dynamic: 'is text that is only put together when it runs',
} as const;

export type OpaqueReason = keyof typeof opaqueReasons;

export interface Opaque {
  readonly kind: 'opaque';
  readonly reason: OpaqueReason;
}

export function opaque(reason: OpaqueReason): Opaque {
  return { kind: 'opaque', reason };
}
