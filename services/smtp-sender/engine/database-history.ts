/**
 * Detects that the database has lost its last transactions, because a lagging replica was promoted. Results of this
 * sender may then be missing, so that sent emails look unsent. It stops claiming on an unknown history (each claim names
 * the timeline), ends its batches, and rewrites the results of the last minute. Claiming continues once all running
 * senders have done the same, so that none claims emails another one knows to be sent.
 */
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { type DatabaseState, identityOf, positionOf } from "../../../models/database/history.ts";
import type { Peers } from "../claim/ask-owners.ts";
import type { Log } from "./dependency-outage.ts";

/**
 * Maximum wait for outstanding replies and for senders that cannot reach the database; then this sender continues
 * alone.
 */
const MAX_WAIT_MS = 30_000;
const POLL_MS = 100;

interface Options {
  log: Log;
  peers: Peers | undefined;
  /** Ends all batches after their handed-over emails. */
  endBatches(): void;
  hasBatches(): boolean;
  /** Rewrites results that the database may have lost; returns how many it checked. */
  writeAgain(): Promise<number>;
  /** Stops newsletters that would be sent again if the database was restored from a backup. */
  recognise(moment: DatabaseState, wasRunning: boolean): Promise<void>;
  /** Called when claiming may start or continue. */
  known(): void;
  stopping(): boolean;
}

/** Identity that senders compare. */
const nameOf = (moment: DatabaseState): string => `${identityOf(moment)}/${moment.history?.timeline ?? "?"}`;

export class DatabaseHistory {
  #options: Options;
  /** The history in which all results of this sender are written. */
  #settled: string | undefined;
  /** The history has also been recognised. */
  #recognised: string | undefined;
  #timeline: string | null | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  /** History reported to other senders. */
  get settled(): string | undefined {
    return this.#settled;
  }

  /** Timeline for claims (`isOnTimeline`); null: any. Undefined: nothing may be claimed now. */
  get timeline(): string | null | undefined {
    return this.#timeline;
  }

  /** True: the history had changed and is now settled. */
  async follow(moment: DatabaseState): Promise<boolean> {
    const name = nameOf(moment);
    const before = this.#recognised;
    const { log, recognise, endBatches, hasBatches, writeAgain } = this.#options;
    // Read again, because `ops restored` changes the record.
    const isSame = before === name && this.#timeline !== undefined && moment.workedOn === identityOf(moment);
    if (isSame) return false;
    this.#timeline = undefined;
    if (before !== undefined) {
      log.warn("the database's history has changed: a replica was promoted or a backup was restored", { before, name });
      endBatches();
      await this.#until(() => !hasBatches());
      const looked = await writeAgain();
      log.warn("rewrote results that the database had lost", { looked });
    }
    this.#settled = name;
    await this.#until(() => this.#waitForPeers(name));
    await recognise(moment, before !== undefined);
    this.#recognised = name;
    this.#timeline = positionOf(moment);
    this.#options.known();
    return before !== undefined;
  }

  async #until(holds: () => boolean | Promise<boolean>): Promise<void> {
    const deadline = performance.now() + MAX_WAIT_MS;
    while (!this.#options.stopping() && !(await holds()) && performance.now() < deadline) await sleep(POLL_MS);
  }

  async #waitForPeers(name: string): Promise<boolean> {
    const others = (await this.#options.peers?.histories()) ?? [];
    return others.every((other) => other === name);
  }
}
