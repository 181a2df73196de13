/** Something that holds a resource until it is disposed. Structurally the same as the editor's own. */
export interface Disposable {
  dispose(): void;
}

/** Owns disposables: disposes them once, in reverse order, and late arrivals at once. */
export class DisposableStore implements Disposable {
  readonly #items = new Set<Disposable>();
  #isDisposed = false;

  add<T extends Disposable>(item: T): T {
    if (this.#isDisposed) {
      item.dispose();
    } else {
      this.#items.add(item);
    }
    return item;
  }

  dispose(): void {
    if (this.#isDisposed) {
      return;
    }
    this.#isDisposed = true;
    for (const item of [...this.#items].reverse()) {
      item.dispose();
    }
    this.#items.clear();
  }
}

/** Wraps a function as a disposable that runs it at most once. */
export function toDisposable(action: () => void): Disposable {
  let isDone = false;
  return {
    dispose() {
      if (!isDone) {
        isDone = true;
        action();
      }
    },
  };
}
