import { pathsOf } from '../../patch/apply/fileChanges.ts';
import type { FileSystem } from '../../patch/files/fileSystem.ts';
import type { ExecClient } from '../execServer/client/execClient.ts';
import { createRemoteFileSystem } from './remoteFileSystem.ts';

/**
 * The files of another machine where a person allowed some paths beyond the sandbox: a change of one of these is made
 * without it, as on this machine. A link on the way, which would carry it somewhere else, is refused by its server.
 */
export function withAcceptedPaths(
  confined: FileSystem,
  client: Pick<ExecClient, 'call'>,
  accepted: readonly string[],
): FileSystem {
  const open = createRemoteFileSystem(client, null);
  const filesOf = (paths: readonly string[]): FileSystem =>
    paths.some((path) => accepted.includes(path)) ? open : confined;
  return {
    stat: (path) => filesOf([path]).stat(path),
    read: (path) => filesOf([path]).read(path),
    stage: (change) => filesOf(pathsOf(change)).stage(change),
  };
}
