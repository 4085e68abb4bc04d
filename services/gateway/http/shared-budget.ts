/**
 * Limits what requests may use at the same time, per process and per owner (a key's company, a person, or a stranger's
 * address): memory for bodies, disk space for uploads, number of uploads. Reserved from the first byte until the
 * response.
 */
import { ConcurrencyLimit } from "../../lib/concurrency-limit.ts";
import { throttled, unavailable } from "../../lib/errors.ts";

const RETRY_SECONDS = 2;

interface Shares {
  perOwner: number;
  inAll: number;
  /** Exempt amount per request: ordinary requests continue while large ones wait. */
  free?: number;
  /** Error message if the limit of the process is reached. */
  sentence: string;
}

export class SharedBudget {
  readonly #shares: Shares;
  #held = 0;
  readonly #ofOwner = new Map<string, number>();

  constructor(shares: Shares) {
    this.#shares = shares;
  }

  open(owner: string): Reservation {
    return new Reservation((n) => this.#add(owner, n), this.#shares.free ?? 0);
  }

  #add(owner: string, n: number): void {
    const { perOwner, inAll, sentence } = this.#shares;
    const ofOwner = (this.#ofOwner.get(owner) ?? 0) + n;
    if (n > 0 && ofOwner > perOwner) throw throttled(RETRY_SECONDS);
    if (n > 0 && this.#held + n > inAll) throw unavailable(sentence);
    this.#held += n;
    if (ofOwner > 0) this.#ofOwner.set(owner, ofOwner);
    else this.#ofOwner.delete(owner);
  }
}

/** Bytes reserved by one request. */
export class Reservation {
  readonly #add: (n: number) => void;
  readonly #free: number;
  #wanted = 0;
  #reserved = 0;

  constructor(add: (n: number) => void, free: number) {
    this.#add = add;
    this.#free = free;
  }

  /** Reserves `n` more. Throws 429 if the owner has used its share, and 503 if the process has no more. */
  take(n: number): void {
    this.reach(this.#wanted + n);
  }

  /** Raises the reservation to `total`. */
  reach(total: number): void {
    this.#wanted = Math.max(this.#wanted, total);
    const more = this.#wanted - this.#free - this.#reserved;
    if (more <= 0) return;
    this.#add(more);
    this.#reserved += more;
  }

  release(): void {
    this.#add(-this.#reserved);
    this.#reserved = 0;
    this.#wanted = 0;
  }
}

const MIB = 1024 ** 2;

/** Reserves as bytes arrive: a length that is only announced takes nothing from others. */
export const bodyBudget = () =>
  new SharedBudget({
    free: 64 * 1024,
    perOwner: 20 * MIB,
    inAll: 40 * MIB,
    sentence: "Too many large requests at the same time.",
  });

/**
 * An upload ends after half a minute of silence (multipart-upload.ts), so stalled ones do not block others for long.
 */
export const uploadBudgets = () => ({
  uploads: new ConcurrencyLimit({ total: 12, perCompany: 4 }),
  /** The Kubernetes manifests give a pod 2 GiB for temporary files. */
  bytes: new SharedBudget({
    perOwner: 1_100 * MIB,
    inAll: 1_800 * MIB,
    sentence: "The service cannot accept an upload of this size at the moment.",
  }),
});

export type UploadBudgets = ReturnType<typeof uploadBudgets>;
