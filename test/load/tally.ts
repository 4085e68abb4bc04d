/** What came of the requests: how many, how long, and which failed. Memory does not grow with the run. */
const MAX_SAMPLES = 20_000;

interface Kind {
  n: number;
  samples: number[];
  statuses: Map<string, number>;
}

export class Tally {
  readonly #kinds = new Map<string, Kind>();
  readonly serverErrors: string[] = [];

  #kind(name: string): Kind {
    const kind = this.#kinds.get(name) ?? { n: 0, samples: [], statuses: new Map() };
    this.#kinds.set(name, kind);
    return kind;
  }

  /** Reservoir sampling: each of any number of values is kept with the same chance. */
  took(name: string, ms: number): void {
    const kind = this.#kind(name);
    kind.n++;
    const at = kind.samples.length < MAX_SAMPLES ? kind.samples.length : Math.floor(Math.random() * kind.n);
    if (at < MAX_SAMPLES) kind.samples[at] = ms;
  }

  failed(name: string, what: string, isServerError: boolean): void {
    const { statuses } = this.#kind(name);
    statuses.set(what, (statuses.get(what) ?? 0) + 1);
    if (isServerError && this.serverErrors.length < 100) this.serverErrors.push(`${name}: ${what}`);
  }

  /** Times a request; an answer of 500 or more, or none, is counted as such and not thrown. */
  async request(name: string, ask: () => Promise<Response>): Promise<string | undefined> {
    const startedMs = performance.now();
    try {
      const response = await ask();
      const text = await response.text();
      this.took(name, performance.now() - startedMs);
      if (response.status < 400) return text;
      this.failed(name, `${response.status} ${text.slice(0, 80)}`, response.status >= 500);
    } catch (error) {
      const { message, cause } = error as Error & { cause?: { code?: string } };
      this.failed(name, cause?.code ?? message, true);
    }
    return undefined;
  }

  rows() {
    return [...this.#kinds].map(([what, { n, samples, statuses }]) => {
      const sorted = samples.toSorted((a, b) => a - b);
      const at = (share: number) => Math.round((sorted[Math.floor(sorted.length * share)] ?? 0) * 10) / 10;
      const failed = [...statuses].map(([status, count]) => `${count} × ${status}`).join(", ");
      return { what, n, p50_ms: at(0.5), p99_ms: at(0.99), max_ms: at(0.99999), failed: failed || "none" };
    });
  }
}
