/** Results of requests: number, duration and failures, in bounded memory. */
import type { Period } from "./period.ts";

const MAX_SAMPLES = 20_000;

/** Reservoir sampling: keeps each of any number of values with equal probability. */
class Sample {
  n = 0;
  readonly #values: number[] = [];

  add(value: number): void {
    this.n++;
    const at = this.#values.length < MAX_SAMPLES ? this.#values.length : Math.floor(Math.random() * this.n);
    if (at < MAX_SAMPLES) this.#values[at] = value;
  }

  /** Rounded to tenths; 0 without values. */
  at(share: number): number {
    const sorted = this.#values.toSorted((a, b) => a - b);
    return Math.round((sorted[Math.floor(sorted.length * share)] ?? 0) * 10) / 10;
  }
}

interface Kind {
  all: Sample;
  early: Sample;
  late: Sample;
  statuses: Map<string, number>;
}

export class Tally {
  readonly #kinds = new Map<string, Kind>();
  readonly serverErrors: string[] = [];
  readonly #period: () => Period;

  constructor(period: () => Period = () => undefined) {
    this.#period = period;
  }

  #kind(name: string): Kind {
    const kind = this.#kinds.get(name) ?? {
      all: new Sample(),
      early: new Sample(),
      late: new Sample(),
      statuses: new Map(),
    };
    this.#kinds.set(name, kind);
    return kind;
  }

  took(name: string, ms: number): void {
    const kind = this.#kind(name);
    kind.all.add(ms);
    const period = this.#period();
    if (period) kind[period].add(ms);
  }

  failed(name: string, what: string, isServerError: boolean): void {
    const { statuses } = this.#kind(name);
    statuses.set(what, (statuses.get(what) ?? 0) + 1);
    if (isServerError && this.serverErrors.length < 100) this.serverErrors.push(`${name}: ${what}`);
  }

  /** Times a request. Counts answers of 500 and above and missing answers instead of throwing. */
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
    return [...this.#kinds].map(([what, { all, early, late, statuses }]) => {
      const failed = [...statuses].map(([status, count]) => `${count} × ${status}`).join(", ");
      return {
        what,
        n: all.n,
        p50_ms: all.at(0.5),
        p99_ms: all.at(0.99),
        p50_early: early.at(0.5),
        p50_late: late.at(0.5),
        p99_early: early.at(0.99),
        p99_late: late.at(0.99),
        max_ms: all.at(0.99999),
        failed: failed || "none",
      };
    });
  }
}
