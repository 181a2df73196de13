/** A parsed patch: what it asks for, before any file was looked at. */
export interface Patch {
  /** The machine that the patch is meant for; undefined when it names none. */
  readonly environmentId?: string | undefined;
  readonly sections: readonly Section[];
  /** What was tolerated although the published format has another form: sentences for the model. */
  readonly notes: readonly string[];
}

/** One file operation. `line` counts from 1 at the begin marker. */
export type Section = AddSection | DeleteSection | UpdateSection;

export interface AddSection {
  readonly kind: 'add';
  /** As written. */
  readonly path: string;
  readonly line: number;
  readonly lines: readonly string[];
}

export interface DeleteSection {
  readonly kind: 'delete';
  readonly path: string;
  readonly line: number;
}

export interface UpdateSection {
  readonly kind: 'update';
  readonly path: string;
  readonly line: number;
  /** Where the file goes, as written; undefined when it stays. */
  readonly movePath?: string | undefined;
  readonly chunks: readonly Chunk[];
}

/** One change place inside an update. */
export interface Chunk {
  readonly line: number;
  /** The texts after `@@`, outermost first: each narrows the search to what follows it. */
  readonly contexts: readonly string[];
  readonly lines: readonly ChunkLine[];
  readonly isEndOfFile: boolean;
}

export interface ChunkLine {
  readonly sign: ' ' | '+' | '-';
  readonly text: string;
}
