import { serveHost } from '../runtime/environments/ssh/host/host.ts';

// Sent over ssh and run from memory, with the word of the connection as its argument.
void serveHost(process.argv[1] ?? '');
