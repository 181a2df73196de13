/** Below these the machine's own state lies: a sandbox has its own, and they cannot be opened as roots. */
export const systemFolders = ['/dev', '/proc', '/sys'] as const;

/** The sockets of the machine's services: hidden, except for a folder below that is a root. */
export const runFolder = '/run';
