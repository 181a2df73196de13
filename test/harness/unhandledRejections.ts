/** Runs it and a moment more, and gives the rejections that nobody handled: the test runner passes over them. */
export async function unhandledRejections(action: () => Promise<void>): Promise<readonly unknown[]> {
  const found = new Set<unknown>();
  const note = (reason: unknown): void => void found.add(reason);
  process.on('unhandledRejection', note);
  try {
    await action();
    await new Promise((resolve) => setTimeout(resolve, 50));
  } finally {
    process.off('unhandledRejection', note);
  }
  return [...found];
}
