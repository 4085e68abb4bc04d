/**
 * Schedules the recovery of expired leases. A database outage or network failure stops all renewals, so leases of live
 * senders look like those of dead ones. After an outage live senders therefore get time to write first; reachable
 * owners can be asked at any time.
 */
import { performance } from "node:perf_hooks";
import { type DatabaseState, readDatabaseState } from "../../../models/database/history.ts";
import { askOwners, type Peers } from "../claim/ask-owners.ts";
import { ANY_LEASE, findExpiredLeases, MAX_LATE_MS, recoverLeases } from "../claim/recover-leases.ts";
import { settleStuck } from "../claim/settle-stuck.ts";
import type { DatabaseHistory } from "./database-history.ts";
import type { Log } from "./dependency-outage.ts";

/**
 * Grace period after the database's first answer: a live sender needs up to 30 s to replace a hanging connection
 * (PinnedConnection) and then writes at once; with leases of 30 s, renewed after a third, this is 40 s.
 */
const afterOutageMs = (leaseMs: number): number => Math.max(6_000, (leaseMs * 4) / 3);

/**
 * Interval of checks for stuck recipients in closed chunks, which are far rarer than expired leases and need a check of
 * each campaign.
 */
const STUCK_CHECK_MS = 15_000;
/** Time after which live senders have rewritten what a failover lost. */
const quietMs = (leaseMs: number): number => 4 * leaseMs;

interface Options {
  owner: string;
  leaseMs: number;
  log: Log;
  /** Other senders to ask. Absent on a single node. */
  peers: Peers | undefined;
  history: DatabaseHistory;
  reportOutage(error: Error): void;
  /** Campaigns of leases that were recovered or settled. */
  freed(campaignIds: readonly string[]): void;
}

export class LeaseRecovery {
  #options: Options;
  #running: Promise<void> | undefined;
  #from = 0;
  #outage = false;
  #nextStuckCheckAtMs = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  get running(): Promise<void> | undefined {
    return this.#running;
  }

  run(): Promise<void> {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #run(): Promise<void> {
    const { owner, peers, history, reportOutage, freed } = this.#options;
    try {
      const moment = await this.#check();
      // Also after a restore, because old leases reappear.
      if (await history.follow(moment)) this.#outage = true;
      if (performance.now() < this.#from) return;
      if (this.#outage) {
        this.#outage = false;
        this.#from = performance.now() + afterOutageMs(this.#options.leaseMs);
        return;
      }
      if (!moment.found) return;
      const expired = peers ? await findExpiredLeases(owner) : [];
      const { wait, settledCampaignIds } = await askOwners(peers, expired, reportOutage);
      const { at } = expired.length > 0 ? await this.#check() : moment;
      if (this.#outage) return;
      const recovered = await recoverLeases(owner, at, wait);
      for (const { campaign_id, doubtful } of recovered)
        this.#options.log.warn("recovered recipients of a sender that stopped", { campaign_id, doubtful });
      const campaignIds = [...settledCampaignIds, ...recovered.map(({ campaign_id }) => campaign_id)];
      if (performance.now() > this.#nextStuckCheckAtMs) campaignIds.push(...(await this.#settleStuck()));
      if (campaignIds.length > 0) freed(campaignIds);
    } catch (error) {
      this.#outage = true;
      reportOutage(error as Error);
    }
  }

  /** A checked campaign is not quiet any more and is checked again after the same interval. */
  async #settleStuck(): Promise<string[]> {
    const { leaseMs, log } = this.#options;
    this.#nextStuckCheckAtMs = performance.now() + Math.min(STUCK_CHECK_MS, leaseMs);
    const stuck = await settleStuck(quietMs(leaseMs));
    for (const found of stuck) log.warn("settled recipients that the database had left in closed chunks", { ...found });
    return stuck.map(({ campaign_id }) => campaign_id);
  }

  /** A late answer counts as an outage, too: hanging statements arrive when the database is back. */
  async #check(): Promise<DatabaseState & { found: boolean }> {
    const askedAtMs = performance.now();
    const moment = await readDatabaseState(ANY_LEASE);
    if (performance.now() - askedAtMs > MAX_LATE_MS) this.#outage = true;
    return moment;
  }
}
