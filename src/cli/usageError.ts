/** The command line is wrong: the message says how, and the program exits with 2. */
export class UsageError extends Error {}
