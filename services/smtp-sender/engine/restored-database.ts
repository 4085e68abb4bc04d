/**
 * Decides, before anything is claimed, whether the database was restored from a backup. A restored database does not
 * know which emails were sent after the backup, so running newsletters are stopped
 * (models/statements/restored-database.ts).
 *
 * | what happened                 | what shows it                               | running newsletters                   |
 * |-------------------------------|---------------------------------------------|---------------------------------------|
 * | a dump was restored           | another server, database or table           | stopped                               |
 * | recovery to an earlier moment | another timeline, and no sender was running | stopped                               |
 * | a replica was promoted        | another timeline, and senders were running  | continue: lost results are rewritten  |
 * | a snapshot or copied files    | nothing                                     | stopped by the command `ops restored` |
 */
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { type DatabaseState, identityOf } from "../../../models/database/history.ts";
import {
  type DatabaseIdentity,
  isRecorded,
  readRecorded,
  recordDatabase,
  stopNewsletters,
} from "../../../models/statements/restored-database.ts";
import type { Peers } from "../claim/ask-owners.ts";
import type { Log } from "./dependency-outage.ts";

/** Time after which running senders have noticed a failover, so that only their record of it is missing. */
const PEERS_RECORD_MS = 5_000;
const POLL_MS = 200;

interface Sender {
  log: Log;
  peers: Peers | undefined;
  /** True if a sender has run since before the change and has rewritten what a failover lost. */
  wasRunning: boolean;
}

export async function recogniseDatabase(moment: DatabaseState, { log, peers, wasRunning }: Sender): Promise<void> {
  const database: DatabaseIdentity = { name: identityOf(moment), timeline: moment.history?.timeline ?? null };
  const recorded = await readRecorded();
  const isKnown = recorded.worked_on === null || isRecorded(recorded, database);
  const isOtherTimeline = recorded.worked_on === database.name;
  if (isKnown || (isOtherTimeline && (wasRunning || (await peersRecord(database, peers))))) {
    return recordDatabase(database);
  }
  const campaigns = await stopNewsletters(database);
  log.warn("the database was restored from a backup: newsletters that were being sent are stopped", { campaigns });
}

/** A starting sender does not know what a failover lost. Running senders do, and record the new timeline. */
async function peersRecord(database: DatabaseIdentity, peers: Peers | undefined): Promise<boolean> {
  const deadline = performance.now() + PEERS_RECORD_MS;
  while ((await peers?.histories())?.length) {
    if (isRecorded(await readRecorded(), database)) return true;
    if (performance.now() > deadline) return false;
    await sleep(POLL_MS);
  }
  return false;
}
