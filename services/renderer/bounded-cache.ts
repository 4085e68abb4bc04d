/** What was used last stays, up to a number of bytes; the newest entry always does, however large it is. */
export class BoundedCache<V> {
  readonly #maxBytes: number;
  readonly #entries = new Map<string, { value: V; bytes: number; until: number }>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get(key: string, now = Date.now()): V | undefined {
    const entry = this.#entries.get(key);
    if (!entry || entry.until <= now) return undefined;
    // To the end: the first in the map is the first to leave.
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  set(key: string, value: V, { bytes, until }: { bytes: number; until: number }): void {
    this.delete(key);
    this.#entries.set(key, { value, bytes, until });
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#maxBytes || oldest === key) break;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    this.#entries.delete(key);
  }

  deleteWhere(applies: (value: V) => boolean): void {
    for (const [key, { value }] of this.#entries) if (applies(value)) this.delete(key);
  }
}
