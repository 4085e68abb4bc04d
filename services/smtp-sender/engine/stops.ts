/**
 * Stops campaigns before their last email: for an error that only the user can fix, by the guard, by an action, by
 * another node or by an operator's statement.
 */
import { performance } from "node:perf_hooks";
import { query, transaction } from "../../../models/database/db.ts";
import { stopOverGuard } from "../../../models/statements/campaign-guard.ts";
import { failQueuedCopies, STOPPED } from "../claim/claim-statements.ts";
import type { Batch } from "../delivery/batch.ts";
import type { EngineContext } from "./context.ts";
import type { Log } from "./dependency-outage.ts";

/** No mail of a stopped campaign starts more than 2 s later: half of that is for the email being sent. */
const CHECK_PAUSE_MS = 750;

/** Senders do not claim a campaign with an error; the campaigns service fails its remaining recipients. */
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
  #checkAtMs = 0;
  /** Campaigns being stopped by the guard: until that is written, each flush reports them again. */
  readonly #guarded = new Set<string>();

  constructor(context: EngineContext, log: Log, batches: () => Iterable<Batch>) {
    this.#context = context;
    this.#log = log;
    this.#batches = batches;
  }

  endBatchesOf(campaignId: string): void {
    for (const batch of [...this.#batches()]) if (batch.campaign.campaign_id === campaignId) batch.stop();
  }

  /** Stops it for an error that only the user can fix. */
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

  /** Stops it because it exceeds the company's limit of bounces and complaints. */
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

  /** Called when a campaign was stopped, possibly one that runs here. */
  checkNow(): void {
    this.#checkAtMs = 0;
    void this.check();
  }

  /** Called a few times per second. Uses one query for all campaigns running here. */
  async check(): Promise<void> {
    const now = performance.now();
    if (now < this.#checkAtMs) return;
    const batches = [...this.#batches()].filter(({ state }) => state !== "over");
    if (batches.length === 0) return;
    this.#checkAtMs = Number.POSITIVE_INFINITY;
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
      this.#checkAtMs = now + CHECK_PAUSE_MS;
    }
  }
}
