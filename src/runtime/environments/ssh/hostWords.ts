/**
 * What is said between this side and the program that is sent to a host, before the connection belongs to the server:
 * {@link HostRequest} as one line of JSON; an {@link UploadHeader} and its bytes when the host asks for an upload.
 * The host's lines begin with the word of the connection, so that what a login shell prints is never taken for one.
 */

/** A file that a server needs. */
export interface BundleFile {
  /** Below the bundle's folder, with slashes. */
  readonly path: string;
  readonly size: number;
  /** In hexadecimal. */
  readonly sha256: string;
  readonly isExecutable: boolean;
}

export interface HostRequest {
  /** Name of the folder that holds exactly these files. */
  readonly name: string;
  readonly files: readonly BundleFile[];
  /** Where such folders are; `~/.cache/cordon/server` by default. */
  readonly installFolder?: string;
}

/** `bytes` follow: the contents of all files in their order, compressed with gzip. */
export interface UploadHeader {
  readonly bytes: number;
}

/** A `problem` ends the connection. */
export type HostAnswer =
  | { readonly kind: 'upload'; readonly because: string }
  /** From here on the connection is the server's. */
  | { readonly kind: 'ready'; readonly folder: string }
  | { readonly kind: 'problem'; readonly problem: HostProblem; readonly detail: string };

export const hostProblems = [
  /** No Node at the place that was given, or on the search path. */
  'no-node',
  /** Too old. `detail`: its version. */
  'old-node',
  /** The bundle has no programs for it. `detail`: system and processor. */
  'platform',
  /** Nothing can be installed. `detail`: the folder, and why. */
  'install-folder',
  /** What arrived is not what was announced. */
  'upload',
  /** The server does not start. `detail`: what it said. */
  'server',
] as const;
export type HostProblem = (typeof hostProblems)[number];

/**
 * By major version, the first minor one that will do, oldest first; every later major one does. The server decompresses
 * zstd, for which Node has had the means since then.
 */
export const oldestNodes = [
  [22, 15],
  [23, 8],
] as const;

/** For people. */
export const oldestNode = '22.15 or newer, of 23 at least 23.8';
