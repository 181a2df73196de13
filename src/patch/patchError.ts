/** Kinds of failure; the names before the dot are those of the reference. */
export const patchErrorKinds = [
  'parse.begin_marker',
  'parse.end_marker',
  'parse.environment_id',
  'parse.bad_hunk_header',
  'parse.empty_update',
  'parse.empty_chunk',
  'parse.bad_update_line',
  'parse.expected_context_marker',
  'apply.no_files',
  'match.context_not_found',
  'match.lines_not_found',
  'io.read',
  'io.write',
  'io.mkdir',
  'io.delete',
  'io.remove_original',
  'path.invalid',
  /** A new line cannot be written in the encoding of its file. */
  'encoding',
  /** The policy does not allow the read or the write. */
  'access',
  /** A file is not what it was when the patch was planned. */
  'stale',
  /** The machine that has the files cannot do it, or cannot be asked; nothing was changed there. */
  'machine',
  /** The connection to it broke in the middle: what became of the files is not known. */
  'lost',
] as const;
export type PatchErrorKind = (typeof patchErrorKinds)[number];

/** Why a patch was not applied. Nothing was changed, or everything was changed back, or the hint names what was not. */
export interface PatchError {
  readonly kind: PatchErrorKind;
  /** The reference's text where it has one; paths in it are absolute. */
  readonly message: string;
  /** What helps to repair the patch in one try: nearest lines with their numbers, what to do. */
  readonly hint?: string | undefined;
  /** Absolute path of the file concerned. */
  readonly path?: string | undefined;
  /** Line of the patch, from 1 at the begin marker. */
  readonly line?: number | undefined;
}
