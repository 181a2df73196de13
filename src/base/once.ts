/** Does it with the first call, and gives its outcome to all. What failed is tried again by the next. */
export function once<T>(action: () => Promise<T>): () => Promise<T> {
  let done: Promise<T> | undefined;
  return () => {
    if (done === undefined) {
      const attempt = action();
      done = attempt;
      attempt.catch(() => {
        done = undefined;
      });
    }
    return done;
  };
}
