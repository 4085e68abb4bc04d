/**
 * When leases that ran out are recovered. A database that was away, or a network that was cut, stops the renewal of every
 * lease: those of senders that live look like those of the dead. So after an outage the living have time to write first,
 * and whoever can be asked is asked at any time.
 */
import { performance } from "node:perf_hooks";
import { type DatabaseState, readDatabaseState } from "../../../models/database/history.ts";
import { askOwners, type Peers } from "../claim/ask-owners.ts";
import { ANY_IN_HAND, findExpiredLeases, MAX_LATE_MS, recoverLeases } from "../claim/recover-leases.ts";
import { settleStuck } from "../claim/settle-stuck.ts";
import type { DatabaseHistory } from "./database-history.ts";
import type { Log } from "./dependency-outage.ts";

/**
 * After the database's first answer: a living sender needs up to 30 s to give up a connection that hangs
 * (PinnedConnection) and writes at once then; with leases of 30 s that are renewed after a third of it this is 40 s.
 */
const afterOutageMs = (leaseMs: number): number => Math.max(6_000, (leaseMs * 4) / 3);

/** Recipients in closed chunks: far rarer than leases that ran out, and found by a look at each campaign. */
const STUCK_CHECK_MS = 15_000;
/** Living senders have written again by then what a failover lost. */
const quietMs = (leaseMs: number): number => 4 * leaseMs;

interface Options {
  owner: string;
  leaseMs: number;
  log: Log;
  /** Absent: there are no other senders that could be asked. */
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
  #lookForStuckAt = 0;

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
      const moment = await this.#look();
      // Leases are as they were some time ago, too.
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
      const { at } = expired.length > 0 ? await this.#look() : moment;
      if (this.#outage) return;
      const recovered = await recoverLeases(owner, at, wait);
      for (const { campaign_id, doubtful } of recovered)
        this.#options.log.warn("recovered recipients of a sender that stopped", { campaign_id, doubtful });
      const campaignIds = [...settledCampaignIds, ...recovered.map(({ campaign_id }) => campaign_id)];
      if (performance.now() > this.#lookForStuckAt) campaignIds.push(...(await this.#settleStuck()));
      if (campaignIds.length > 0) freed(campaignIds);
    } catch (error) {
      this.#outage = true;
      reportOutage(error as Error);
    }
  }

  /** A campaign that was looked at is quiet no more: its turn comes again after the same time. */
  async #settleStuck(): Promise<string[]> {
    const { leaseMs, log } = this.#options;
    this.#lookForStuckAt = performance.now() + Math.min(STUCK_CHECK_MS, leaseMs);
    const stuck = await settleStuck(quietMs(leaseMs));
    for (const found of stuck) log.warn("settled recipients that the database had left in closed chunks", { ...found });
    return stuck.map(({ campaign_id }) => campaign_id);
  }

  /** An answer that comes late is an outage, too: what hung arrived when the database was back. */
  async #look(): Promise<DatabaseState & { found: boolean }> {
    const askedAtMs = performance.now();
    const moment = await readDatabaseState(ANY_IN_HAND);
    if (performance.now() - askedAtMs > MAX_LATE_MS) this.#outage = true;
    return moment;
  }
}
