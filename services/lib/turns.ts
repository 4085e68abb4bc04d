/**
 * Turns at something of which there is little, such as connections: so many in all, so many for each owner. Who has to wait
 * holds nothing meanwhile, and owners are served in rotation: one that asks a thousand times waits for itself.
 */
export type Release = () => void;

interface Options {
  inAll: number;
  perOwner: number;
  /** What fails after a wait that was too long; `ofOwner`: the owner had its own share, else all turns were taken. */
  refusal: (ofOwner: boolean) => Error;
}

interface Waiting {
  resolve: (release: Release) => void;
  timer: NodeJS.Timeout | undefined;
}

/** Gives a turn back, however often it is called. */
export const once = (run: () => void): Release => {
  let ran = false;
  return () => {
    if (ran) return;
    ran = true;
    run();
  };
};

/** An owner is a company's id; undefined is the service itself, to which only the bound in all applies. */
export type Owner = string | undefined;

export class Turns {
  readonly inAll: number;
  readonly #perOwner: number;
  readonly #refusal: Options["refusal"];
  #taken = 0;
  readonly #ofOwner = new Map<Owner, number>();
  /** In the order in which owners are served next. */
  readonly #waiting = new Map<Owner, Waiting[]>();

  constructor({ inAll, perOwner, refusal }: Options) {
    this.inAll = inAll;
    this.#perOwner = perOwner;
    this.#refusal = refusal;
  }

  #hasShare(owner: Owner): boolean {
    return owner !== undefined && (this.#ofOwner.get(owner) ?? 0) >= this.#perOwner;
  }

  /** Whether the owner has a turn, or waits for one. */
  serves(owner: Owner): boolean {
    return this.#ofOwner.has(owner) || this.#waiting.has(owner);
  }

  /** Undefined where it would have to wait. */
  tryTake(owner: Owner): Release | undefined {
    if (this.#taken >= this.inAll || this.#hasShare(owner)) return undefined;
    this.#taken++;
    this.#ofOwner.set(owner, (this.#ofOwner.get(owner) ?? 0) + 1);
    return once(() => this.#giveBack(owner));
  }

  /** Rejects with the refusal after `waitMs`; `Infinity`: whoever asks bounds what waits. */
  take(owner: Owner, waitMs: number): Promise<Release> {
    const release = this.tryTake(owner);
    if (release) return Promise.resolve(release);
    return new Promise((resolve, reject) => {
      const refuse = () => {
        this.#forget(owner, waiting);
        reject(this.#refusal(this.#hasShare(owner)));
      };
      const timer = waitMs === Number.POSITIVE_INFINITY ? undefined : setTimeout(refuse, waitMs);
      const waiting: Waiting = { resolve, timer };
      const line = this.#waiting.get(owner);
      if (line) line.push(waiting);
      else this.#waiting.set(owner, [waiting]);
    });
  }

  #forget(owner: Owner, waiting: Waiting): void {
    const rest = this.#waiting.get(owner)!.filter((one) => one !== waiting);
    if (rest.length > 0) this.#waiting.set(owner, rest);
    else this.#waiting.delete(owner);
  }

  #giveBack(owner: Owner): void {
    this.#taken--;
    const left = this.#ofOwner.get(owner)! - 1;
    if (left > 0) this.#ofOwner.set(owner, left);
    else this.#ofOwner.delete(owner);
    this.#serveNext();
  }

  #serveNext(): void {
    for (const [owner, line] of this.#waiting) {
      const release = this.tryTake(owner);
      if (!release) continue;
      const [next, ...rest] = line as [Waiting, ...Waiting[]];
      // Behind all others that wait.
      this.#waiting.delete(owner);
      if (rest.length > 0) this.#waiting.set(owner, rest);
      clearTimeout(next.timer);
      next.resolve(release);
      return;
    }
  }
}
