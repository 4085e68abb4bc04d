/**
 * Manages the mailboxes that this node reads. Leases in PostgreSQL assign each mailbox to one node; another node takes
 * over when that one dies. A node without mailboxes only asks the database for some every few seconds.
 */
import { randomUUID } from "node:crypto";
import {
  type ClaimedMailbox,
  claimMailboxes,
  MAILBOX_LEASE_SECONDS,
  mailboxFailed,
  mailboxWorks,
  releaseMailbox,
  renewMailboxes,
} from "./bounce-mailboxes.ts";
import { sentenceOf } from "./connect.ts";
import { type ReaderDeps, readMailbox } from "./reader.ts";

/** An idle mailbox costs one connection and about 100 KB. */
const MAX_MAILBOXES = 500;
const FIRST_BACKOFF_SECONDS = 5;
const MAX_BACKOFF_SECONDS = 300;
/** Servers lock accounts after failed logins. */
const MIN_BACKOFF_OF_REFUSED_SECONDS = 60;
/** A node that cannot renew its leases stops reading before they expire. */
const GIVE_UP_MS = (MAILBOX_LEASE_SECONDS - 10) * 1_000;

interface Held {
  box: ClaimedMailbox;
  stop: AbortController;
  over: Promise<void>;
}

const backoffSeconds = (failures: number, mayPass: boolean): number => {
  const doubled = FIRST_BACKOFF_SECONDS * 2 ** Math.min(failures, 10);
  return Math.min(MAX_BACKOFF_SECONDS, mayPass ? doubled : Math.max(doubled, MIN_BACKOFF_OF_REFUSED_SECONDS));
};

export class MailboxReaders {
  /** Changes with each start of the process. */
  readonly #name = randomUUID();
  readonly #deps: ReaderDeps;
  readonly #log: (sentence: string) => void;
  readonly #held = new Map<string, Held>();
  #renewedAt = 0;
  #stopped = false;

  constructor(deps: ReaderDeps, log: (sentence: string) => void) {
    this.#deps = deps;
    this.#log = log;
  }

  /** Number of mailboxes being read. */
  get size(): number {
    return this.#held.size;
  }

  /** Renews leases, stops mailboxes that were lost, and claims free ones. Called every few seconds. */
  async refresh(): Promise<void> {
    try {
      await this.#renew();
      await this.#claim();
    } catch (error) {
      if (this.#held.size > 0 && performance.now() - this.#renewedAt > GIVE_UP_MS) this.#endAll();
      throw error;
    }
  }

  async #renew(): Promise<void> {
    if (this.#held.size === 0) return;
    const renewed = await renewMailboxes(
      this.#name,
      [...this.#held.values()].map(({ box }) => box),
    );
    this.#renewedAt = performance.now();
    for (const [id, { stop }] of this.#held) if (!renewed.has(id)) stop.abort();
  }

  async #claim(): Promise<void> {
    const room = MAX_MAILBOXES - this.#held.size;
    if (room <= 0 || this.#stopped) return;
    const claimed = await claimMailboxes(this.#name, room);
    if (claimed.length > 0 && this.#held.size === 0) this.#renewedAt = performance.now();
    for (const box of claimed) this.#begin(box);
  }

  #begin(box: ClaimedMailbox): void {
    const before = this.#held.get(box.id);
    before?.stop.abort();
    const stop = new AbortController();
    const over = (before?.over ?? Promise.resolve()).then(() => this.#read(box, stop.signal));
    const held: Held = { box, stop, over };
    this.#held.set(box.id, held);
    over.finally(() => {
      if (this.#held.get(box.id) === held) this.#held.delete(box.id);
    });
    if (this.#stopped) stop.abort();
  }

  /** Never rejects. */
  async #read(box: ClaimedMailbox, signal: AbortSignal): Promise<void> {
    let { failures } = box;
    try {
      if (signal.aborted) return await releaseMailbox(this.#name, box);
      const works = async () => {
        failures = 0;
        await mailboxWorks(this.#name, box);
      };
      await readMailbox(box, this.#deps, { signal, works });
      await releaseMailbox(this.#name, box);
    } catch (error) {
      const { message, mayPass, cause } = sentenceOf(error, box);
      const why = cause instanceof Error ? ` (${cause.message})` : "";
      this.#log(`Mailbox of SMTP configuration ${box.id}: ${message}${why}`);
      await mailboxFailed(this.#name, box, message, backoffSeconds(failures, mayPass)).catch((failed: Error) =>
        this.#log(`Mailbox of SMTP configuration ${box.id}: ${failed.message}`),
      );
    }
  }

  #endAll(): void {
    for (const { stop } of this.#held.values()) stop.abort();
  }

  /** Finishes the current batches, logs out and releases the mailboxes. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#endAll();
    await Promise.all([...this.#held.values()].map(({ over }) => over));
  }
}
