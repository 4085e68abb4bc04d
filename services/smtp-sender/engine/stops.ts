/**
 * Campaigns that end before their last mail: for an error that only the user can change, by the guard, by an action, by
 * another node or by an operator's statement.
 */
import { performance } from "node:perf_hooks";
import { query, transaction } from "../../../models/database/db.ts";
import { stopOverGuard } from "../../../models/statements/campaign-guard.ts";
import { failQueuedCopies, STOPPED } from "../claim/claim-statements.ts";
import type { Batch } from "../delivery/batch.ts";
import type { EngineContext } from "./context.ts";
import type { Log } from "./dependency-outage.ts";

/** A campaign that is stopped gets no mail that begins more than 2 s later: half of it for the mail that is being sent. */
const LOOK_PAUSE_MS = 750;

/** Senders claim nothing of a campaign with an error; the campaigns service fails what is left of it. */
async function writeStop(companyId: string, campaignId: string, error: string): Promise<void> {
  await query(
    `update campaigns set error = $3, updated_at = now()
     where id = $2 and company_id = $1 and error is null and status in ('pending', 'sending')`,
    [companyId, campaignId, error],
  );
}

const key = (campaignId: string, copies: boolean) => `${campaignId} ${copies}`;
const keyOf = ({ campaign, kind }: Batch) => key(campaign.campaign_id, kind === "copies");

export class Stops {
  readonly #context: EngineContext;
  readonly #log: Log;
  /** The batches of all servers. */
  readonly #batches: () => Iterable<Batch>;
  #lookAtMs = 0;
  /** Campaigns that are being stopped by the guard: until that is written, each flush finds them again. */
  readonly #guarded = new Set<string>();

  constructor(context: EngineContext, log: Log, batches: () => Iterable<Batch>) {
    this.#context = context;
    this.#log = log;
    this.#batches = batches;
  }

  endBatchesOf(campaignId: string): void {
    for (const batch of [...this.#batches()]) if (batch.campaign.campaign_id === campaignId) batch.stop();
  }

  /** Stops it for an error that only the user can correct. */
  async stop(companyId: string, campaignId: string, error: string): Promise<void> {
    const { claims, outage, outputs } = this.#context;
    claims.skip(campaignId);
    this.#log.warn("campaign stopped", { campaignId, companyId, error });
    await outage.retryUntilDone(`stopping campaign ${campaignId}`, async () => {
      await writeStop(companyId, campaignId, error);
      await failQueuedCopies(companyId, campaignId, error);
    });
    this.endBatchesOf(campaignId);
    outputs.campaignDrained(campaignId);
  }

  /** Stops it because more bounces and complaints come back than its company allows. */
  async stopOverGuard(companyId: string, campaignId: string): Promise<void> {
    if (this.#guarded.has(campaignId)) return;
    this.#guarded.add(campaignId);
    const { claims, outage, outputs } = this.#context;
    let error: string | undefined;
    await outage.retryUntilDone(`stopping campaign ${campaignId} by the guard`, async () => {
      error = await transaction((client) => stopOverGuard(client, companyId, campaignId));
    });
    this.#guarded.delete(campaignId);
    if (error === undefined) return;
    this.#log.warn("campaign stopped", { campaignId, companyId, error });
    claims.skip(campaignId);
    this.endBatchesOf(campaignId);
    outputs.campaignDrained(campaignId);
  }

  /** A campaign was stopped, perhaps one that is at work here. */
  checkNow(): void {
    this.#lookAtMs = 0;
    void this.look();
  }

  /** Called a few times a second. One query for all campaigns at work here. */
  async look(): Promise<void> {
    const now = performance.now();
    if (now < this.#lookAtMs) return;
    const batches = [...this.#batches()].filter(({ state }) => state !== "over");
    if (batches.length === 0) return;
    this.#lookAtMs = Number.POSITIVE_INFINITY;
    const distinct = [...new Map(batches.map((batch) => [keyOf(batch), batch])).values()];
    try {
      const stopped = await this.#context.reads.run<{ campaign_id: string; copies: boolean }>(
        "stopped-campaigns",
        STOPPED,
        [
          distinct.map(({ campaign }) => campaign.company_id),
          distinct.map(({ campaign }) => campaign.campaign_id),
          distinct.map(({ kind }) => kind === "copies"),
        ],
      );
      const ended = new Set(stopped.map(({ campaign_id, copies }) => key(campaign_id, copies)));
      for (const batch of [...this.#batches()]) if (ended.has(keyOf(batch))) batch.stop();
    } catch (error) {
      this.#context.outage.report(error as Error);
    } finally {
      this.#lookAtMs = now + LOOK_PAUSE_MS;
    }
  }
}
