/**
 * The command line is wrong: the message says how, and the program exits with 2. Known by its name, because every
 * command is a bundle of its own.
 */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}
