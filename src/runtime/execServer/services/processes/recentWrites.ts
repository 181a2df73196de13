/** Of the reference. */
const remembered = 4096;

/** The names of the latest writes, so that one that is sent again after a reconnect is not written twice. */
export class RecentWrites {
  /** In order of arrival. */
  readonly #ids = new Set<string>();

  /** False when it was noted before. */
  note(id: string): boolean {
    if (this.#ids.has(id)) {
      return false;
    }
    this.#ids.add(id);
    if (this.#ids.size > remembered) {
      const [oldest] = this.#ids;
      this.#ids.delete(oldest as string);
    }
    return true;
  }
}
