/**
 * What ends attempts before an answer: their time is over, or this process stops. Plain, and not AbortSignals: a listener of
 * one that all attempts share is looked for among those of all others, 2 µs with 256 under way and 4 with 768.
 */
export class Endings {
  readonly #attempts = new Set<Ending>();
  #stopped = false;

  /** This process stops: all attempts end, and none begins any more. */
  stop(): void {
    this.#stopped = true;
    for (const attempt of this.#attempts) attempt.end("stopped");
  }

  /** For one attempt, until it is `over`. */
  begin(timeoutMs: number): Ending {
    const attempt = new Ending(timeoutMs, () => this.#attempts.delete(attempt));
    this.#attempts.add(attempt);
    if (this.#stopped) attempt.end("stopped");
    return attempt;
  }
}

export class Ending {
  /** Undefined while it may go on. */
  reason: "late" | "stopped" | undefined;
  #cut: (() => void) | undefined;
  readonly #late: NodeJS.Timeout;
  readonly #forget: () => void;

  constructor(timeoutMs: number, forget: () => void) {
    this.#late = setTimeout(() => this.end("late"), timeoutMs);
    this.#forget = forget;
  }

  end(reason: "late" | "stopped"): void {
    this.reason ??= reason;
    this.#cut?.();
  }

  /** What is to be done at the end, instead of what was said before. */
  whenEnded(cut: (() => void) | undefined): void {
    this.#cut = cut;
  }

  over(): void {
    clearTimeout(this.#late);
    this.#forget();
  }
}
