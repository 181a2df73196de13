import { posix } from 'node:path';
import * as z from 'zod';

/** An absolute path on another machine. */
export const remotePath = z
  .string()
  .refine(
    (path) => posix.isAbsolute(path) && !path.includes('\0'),
    'must be an absolute path on that machine',
  )
  .transform((path) => posix.resolve(path));

/** ssh gives the name to the person's own `ProxyCommand` and the like, which are lines for a shell. */
const hostName = /^[A-Za-z0-9_[\]:.%@+/-]+$/;

/** An environment of type `ssh`. */
export const sshSettings = z.strictObject({
  /** As ssh's own configuration knows it. */
  host: z
    .string()
    .regex(hostName, 'must be a host as in your ssh configuration, without spaces or characters of the shell')
    .refine(
      (host) => !host.startsWith('-'),
      'must not begin with "-", because ssh would take it for an option',
    ),
  /** The folder on the host that the commands of the root work in. */
  folder: remotePath,
  /** Program `ssh`; the first on the search path by default. */
  sshPath: z.string().min(1).optional(),
  /** Program `node` on the host; the first on its search path by default. */
  nodePath: remotePath.optional(),
  /** Where the server is installed on the host; `~/.cache/cordon/server` by default. */
  installFolder: remotePath.optional(),
});
export type SshSettings = z.infer<typeof sshSettings>;
