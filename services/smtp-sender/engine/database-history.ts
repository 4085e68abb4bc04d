/**
 * Notices that the database has lost its last transactions: a replica that was behind has taken over. What this sender had
 * written may be gone, so that mails which left look as if they waited. It claims nothing on a history that it does not know
 * (each claim names the timeline), ends what it is at, and writes the results of the last minute again. Claims go on when
 * all senders that live have done so: none may take what another one knows to have left.
 */
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { type Moment, placeOf } from "../../../models/database/history.ts";
import type { Peers } from "../claim/ask-owners.ts";
import type { Log } from "./dependency-outage.ts";
import type { RestoredDatabase } from "./restored-database.ts";

/** For mails whose answer is still to come, and for senders that do not find the database: then this one goes on without. */
const MAX_WAIT_MS = 30_000;
const LOOK_AGAIN_MS = 100;

interface Options {
  log: Log;
  peers: Peers | undefined;
  /** Ends all batches; what they had handed over is waited for. */
  endBatches(): void;
  hasBatches(): boolean;
  /** Writes again what the database may have lost; returns how many results it looked at. */
  writeAgain(): Promise<number>;
  /** Stops what would be sent again, should the database have been restored from a backup. */
  restored: Pick<RestoredDatabase, "recognise" | "stay">;
  /** Claims may begin, or go on. */
  known(): void;
  stopping(): boolean;
}

/** For other senders, also those of the version before. */
const nameOf = ({ history }: Moment): string => (history ? `${history.system}/${history.timeline}` : "unknown");
const fullNameOf = (moment: Moment): string => `${nameOf(moment)}/${moment.database}`;

export class DatabaseHistory {
  #options: Options;
  /** All that this sender knows is written in it. */
  #settled: string | undefined;
  /** What would be sent again was looked for. */
  #fullName: string | undefined;
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
  async follow(moment: Moment): Promise<boolean> {
    const name = fullNameOf(moment);
    const before = this.#fullName;
    const { log, restored, endBatches, hasBatches, writeAgain } = this.#options;
    const isSame = before === name && this.#timeline !== undefined && (await restored.stay());
    if (isSame) return false;
    this.#timeline = undefined;
    if (before !== undefined) {
      log.warn("the database has another history: a replica took over, or a backup was restored", { before, name });
      endBatches();
      await this.#until(() => !hasBatches());
      const looked = await writeAgain();
      log.warn("results were written again where the database had lost them", { looked });
    }
    const settled = nameOf(moment);
    this.#settled = settled;
    await this.#until(() => this.#othersFollow(settled));
    await restored.recognise(moment);
    this.#fullName = name;
    this.#timeline = placeOf(moment);
    this.#options.known();
    return before !== undefined;
  }

  async #until(holds: () => boolean | Promise<boolean>): Promise<void> {
    const deadline = performance.now() + MAX_WAIT_MS;
    while (!this.#options.stopping() && !(await holds()) && performance.now() < deadline) await sleep(LOOK_AGAIN_MS);
  }

  async #othersFollow(name: string): Promise<boolean> {
    const others = (await this.#options.peers?.histories()) ?? [];
    return others.every((other) => other === name);
  }
}
