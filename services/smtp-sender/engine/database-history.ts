/**
 * Notices that the database has lost its last transactions: a replica that was behind has taken over. Results that this
 * sender had written may be gone, so that mails which left look as if they waited. It claims nothing on a history that
 * it does not know (each claim names the timeline), ends its batches, and writes the results of the last minute again.
 * Claims continue when all running senders have done so: none may take what another one knows to have left.
 */
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { type DatabaseState, identityOf, positionOf } from "../../../models/database/history.ts";
import type { Peers } from "../claim/ask-owners.ts";
import type { Log } from "./dependency-outage.ts";

/** For mails whose answer is still to come, and for senders that do not find the database; then this one continues alone. */
const MAX_WAIT_MS = 30_000;
const POLL_MS = 100;

interface Options {
  log: Log;
  peers: Peers | undefined;
  /** Ends all batches; what they had handed over is waited for. */
  endBatches(): void;
  hasBatches(): boolean;
  /** Writes again what the database may have lost; returns how many results it looked at. */
  writeAgain(): Promise<number>;
  /** Stops what would be sent again, should the database have been restored from a backup. */
  recognise(moment: DatabaseState, wasRunning: boolean): Promise<void>;
  /** Claims may begin, or continue. */
  known(): void;
  stopping(): boolean;
}

/** Compared between senders. */
const nameOf = (moment: DatabaseState): string => `${identityOf(moment)}/${moment.history?.timeline ?? "?"}`;

export class DatabaseHistory {
  #options: Options;
  /** All that this sender knows is written in it. */
  #settled: string | undefined;
  /** It was recognised, too. */
  #recognised: string | undefined;
  #timeline: string | null | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  /** For other senders. */
  get settled(): string | undefined {
    return this.#settled;
  }

  /** Claims are made on this one (`isOnTimeline`); null: on any. Undefined: nothing may be claimed now. */
  get timeline(): string | null | undefined {
    return this.#timeline;
  }

  /** True: it was another one, and is settled now. */
  async follow(moment: DatabaseState): Promise<boolean> {
    const name = nameOf(moment);
    const before = this.#recognised;
    const { log, recognise, endBatches, hasBatches, writeAgain } = this.#options;
    // `ops restored` changes the record.
    const isSame = before === name && this.#timeline !== undefined && moment.workedOn === identityOf(moment);
    if (isSame) return false;
    this.#timeline = undefined;
    if (before !== undefined) {
      log.warn("the database has another history: a replica took over, or a backup was restored", { before, name });
      endBatches();
      await this.#until(() => !hasBatches());
      const looked = await writeAgain();
      log.warn("results were written again where the database had lost them", { looked });
    }
    this.#settled = name;
    await this.#until(() => this.#othersFollow(name));
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

  async #othersFollow(name: string): Promise<boolean> {
    const others = (await this.#options.peers?.histories()) ?? [];
    return others.every((other) => other === name);
  }
}
