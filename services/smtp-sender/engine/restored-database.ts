/**
 * Recognises a database that was restored from a backup, before anything of it is claimed
 * (models/statements/restored-database.ts says what is stopped then).
 *
 * | what happened                                            | what shows it                           | newsletters under way |
 * |----------------------------------------------------------|-----------------------------------------|-----------------------|
 * | a dump was restored                                      | another server, database or table       | stopped               |
 * | the files of the embedded database were copied           | when their folder was made              | stopped               |
 * | recovery to an earlier moment                            | another timeline, and no sender lived   | stopped               |
 * | the same while senders live; a replica far behind        | the last entry is older than 50 seconds | stopped               |
 * | a replica took over, senders live                        | another timeline                        | go on: what was lost is written again |
 * | a snapshot of the volume; files copied into their folder | nothing: `ops restored`                 | stopped by that       |
 */
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import type { Moment } from "../../../models/database/history.ts";
import {
  isPlace,
  markRestored,
  type Place,
  readWorkedOn,
  stayAt,
  stopWhatWouldComeAgain,
  takePlace,
} from "../../../models/statements/restored-database.ts";
import { forgetMark, isMarkedRestored, madeAt } from "../../lib/processes/restored-files.ts";
import type { Peers } from "../claim/ask-owners.ts";
import type { Log } from "./dependency-outage.ts";

/** Results of the last minute are written again (recent-results.ts), and an entry is this much older than the last one. */
const ENTRY_MS = 10_000;
const MAX_LOST_MS = 60_000 - ENTRY_MS;
/** Others that live have followed by now; what is left is that one of them writes so. */
const OTHERS_ENTER_MS = 5_000;
const LOOK_AGAIN_MS = 200;

interface Options {
  log: Log;
  peers: Peers | undefined;
  /** Of the embedded database: the folder of its files. */
  dataDir: string | undefined;
}

export class RestoredDatabase {
  #options: Options;
  #place: Place | undefined;
  /** The last entry, by the database's clock. */
  #enteredMs: number | undefined;
  #enterAgainAt = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  /** Before the first claim on it. */
  async recognise({ history, database }: Moment): Promise<void> {
    const { log, dataDir } = this.#options;
    const name = `${history?.system ?? "?"}/${database}${dataDir === undefined ? "" : madeAt(dataDir)}`;
    const place: Place = { name, timeline: history?.timeline ?? null };
    if (!this.#isMarked() && (await this.#goesOn(place))) await takePlace(place);
    else {
      if (this.#isMarked()) await markRestored();
      const campaigns = await stopWhatWouldComeAgain(place);
      if (dataDir !== undefined) forgetMark(dataDir);
      log.warn("the database was restored from a backup: newsletters that were being sent are stopped", { campaigns });
    }
    this.#place = place;
    this.#enteredMs = await stayAt(place);
    this.#enterAgainAt = performance.now() + ENTRY_MS;
  }

  /** False: the database says that it is not the one that this sender knows. */
  async stay(): Promise<boolean> {
    if (!this.#place || performance.now() < this.#enterAgainAt) return true;
    this.#enterAgainAt = performance.now() + ENTRY_MS;
    const enteredMs = await stayAt(this.#place);
    if (enteredMs === undefined || this.#isMarked()) return false;
    this.#enteredMs = enteredMs;
    return true;
  }

  #isMarked(): boolean {
    const { dataDir } = this.#options;
    return dataDir !== undefined && isMarkedRestored(dataDir);
  }

  async #goesOn(place: Place): Promise<boolean> {
    const found = await readWorkedOn();
    if (found.worked_on === null || isPlace(found, place)) return true;
    if (found.worked_on !== place.name) return false;
    // The same server on another timeline.
    if (this.#enteredMs !== undefined) return this.#enteredMs - found.worked_at_ms! <= MAX_LOST_MS;
    return this.#othersWentOn(place);
  }

  /** A sender that begins does not know what was lost; one that lives does, and has taken the place by then. */
  async #othersWentOn(place: Place): Promise<boolean> {
    const deadline = performance.now() + OTHERS_ENTER_MS;
    while ((await this.#options.peers?.histories())?.length) {
      if (isPlace(await readWorkedOn(), place)) return true;
      if (performance.now() > deadline) return false;
      await sleep(LOOK_AGAIN_MS);
    }
    return false;
  }
}
