interface Entry<T> {
  value: T;
  untilMs: number;
}

/**
 * Answers remembered for a moment, in bounded memory. Age counts from when the question was asked, so that what an
 * answer says was true at most `forMs` ago. Those who ask the same at once wait for one answer; failures are not kept.
 */
export class Remember<T> {
  readonly #forMs: number;
  readonly #max: number;
  readonly #kept = new Map<string, Entry<T>>();
  readonly #asked = new Map<string, Promise<T>>();

  constructor(forMs: number, max: number) {
    this.#forMs = forMs;
    this.#max = max;
  }

  /** A value without a promise where it is known: the common case costs no turn of the event loop. */
  get(key: string, ask: () => Promise<T>): T | Promise<T> {
    const entry = this.#kept.get(key);
    if (entry && entry.untilMs > performance.now()) return entry.value;
    return this.#asked.get(key) ?? this.#ask(key, ask);
  }

  async #ask(key: string, ask: () => Promise<T>): Promise<T> {
    const untilMs = performance.now() + this.#forMs;
    const answer = ask();
    this.#asked.set(key, answer);
    try {
      const value = await answer;
      // Forgotten while it was asked: the answer may be older than what made it forgotten.
      if (this.#asked.get(key) === answer) this.#keep(key, { value, untilMs });
      return value;
    } finally {
      if (this.#asked.get(key) === answer) this.#asked.delete(key);
    }
  }

  #keep(key: string, entry: Entry<T>): void {
    this.#kept.delete(key);
    if (this.#kept.size >= this.#max) this.#kept.delete(this.#kept.keys().next().value!);
    this.#kept.set(key, entry);
  }

  forget(isMeant: (value: T) => boolean): void {
    for (const [key, { value }] of this.#kept) if (isMeant(value)) this.#kept.delete(key);
    // What is on its way may have been read before the event.
    this.#asked.clear();
  }
}
