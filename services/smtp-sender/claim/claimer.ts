/**
 * Claims work in rounds: finds campaigns with recipients, selects those this node can serve now, and leases a chunk of
 * each. Takes at most two leases per campaign (one being delivered, one read ahead), so that no campaign holds work
 * that other nodes could do.
 */
import { performance } from "node:perf_hooks";
import { bounceTokens } from "../../../models/statements/mail-key.ts";
import type { BounceTokens } from "../../lib/tokens/bounce-token.ts";
import { Batch, type BatchEnd } from "../delivery/batch.ts";
import { envelopeSender } from "../delivery/envelope-sender.ts";
import { requeueUnsent } from "../delivery/late-results.ts";
import { ChunkSource, DueSource, type RecipientSource } from "../delivery/recipient-source.ts";
import type { LeasedChunk } from "../delivery/recorded-result.ts";
import type { ClaimableCampaign } from "../delivery/rows.ts";
import { batchClaimed, batchOver } from "../delivery/spans.ts";
import type { Claims, EngineContext } from "../engine/context.ts";
import type { Server } from "../server/server.ts";
import type { Servers } from "../server/servers.ts";
import { BatchAdmission } from "./batch-admission.ts";
import {
  campaignsWithDueCopies,
  campaignsWithDueRetries,
  claimableCampaigns,
  type Excluded,
  leaseChunks,
  MAX_CAMPAIGNS,
  releaseChunks,
} from "./claim-statements.ts";

const MIN_PAUSE_MS = 20;
const SKIPPED_MS = 5_000;
/** Minimum pause between checks for retries. Chunks are checked up to 50 times per second; retries are less urgent. */
const RETRIES_PAUSE_MS = 100;
const COPIES_PAUSE_MS = 250;

export class Claimer implements Claims {
  #context: EngineContext;
  #servers: Servers;
  #round: Promise<void> | undefined;
  #again = false;
  #stopped = false;
  #retriesAskedAt = Number.NEGATIVE_INFINITY;
  #copiesAskedAt = Number.NEGATIVE_INFINITY;
  /**
   * End of the time for which a company (hourly limit reached), a configuration (daily limit reached) or a campaign
   * (stopped) is skipped.
   */
  #pausedCompanies = new Map<string, number>();
  #pausedConfigs = new Map<string, number>();
  #skippedCampaigns = new Map<string, number>();
  #ending = new Set<Promise<unknown>>();
  /** Leases that are being released after the end of their batch. */
  readonly endingChunks = new Set<LeasedChunk>();

  constructor(context: EngineContext, servers: Servers) {
    this.#context = context;
    this.#servers = servers;
  }

  park(companyId: string, ms: number): void {
    this.#pausedCompanies.set(companyId, performance.now() + ms);
    setTimeout(() => this.check(), ms + 1).unref();
  }

  parkConfig(smtpConfigId: string, ms: number): void {
    this.#pausedConfigs.set(smtpConfigId, performance.now() + ms);
    setTimeout(() => this.check(), ms + 1).unref();
  }

  unparkConfig(smtpConfigId: string): void {
    if (this.#pausedConfigs.delete(smtpConfigId)) this.check();
  }

  /** Skips a campaign that was just stopped, so that a round that read its row before does not claim it. */
  skip(campaignId: string): void {
    this.#skippedCampaigns.set(campaignId, performance.now() + SKIPPED_MS);
  }

  check(): void {
    if (this.#stopped) return;
    if (this.#round) {
      this.#again = true;
      return;
    }
    this.#round = this.#claim()
      .catch((error: Error) => this.#context.outage.report(error))
      .finally(() => {
        this.#round = undefined;
        if (this.#again) setTimeout(() => this.check(), MIN_PAUSE_MS);
        this.#again = false;
      });
  }

  async #claim(): Promise<void> {
    while (!this.#stopped && (await this.#claimChunks()));
    const now = performance.now();
    if (!this.#stopped && now - this.#retriesAskedAt >= RETRIES_PAUSE_MS) {
      this.#retriesAskedAt = now;
      await this.#claimDue("retries");
    }
    if (!this.#stopped && now - this.#copiesAskedAt >= COPIES_PAUSE_MS) {
      this.#copiesAskedAt = now;
      await this.#claimDue("copies");
    }
  }

  #excluded(admission: BatchAdmission, campaignIds: Iterable<string>): Excluded {
    const now = performance.now();
    for (const times of [this.#pausedCompanies, this.#pausedConfigs, this.#skippedCampaigns]) {
      for (const [id, until] of times) if (until < now) times.delete(id);
    }
    const backingOff: string[] = [];
    for (const { config, backingOffUntil } of this.#servers.all) if (backingOffUntil > now) backingOff.push(config.id);
    return {
      companyIds: [...this.#pausedCompanies.keys()],
      smtpConfigIds: [...backingOff, ...this.#pausedConfigs.keys()],
      campaignIds: [...this.#skippedCampaigns.keys(), ...campaignIds],
      saturatedIds: admission.saturatedIds,
    };
  }

  #needsChunk(server: Server, campaignId: string): boolean {
    const batches = server.batches.filter(
      ({ campaign, chunk }) => campaign.campaign_id === campaignId && chunk !== null,
    );
    if (batches.length >= 2) return false;
    return batches.length === 0 || batches[0]!.left < server.preparation.throughput.readAheadAt;
  }

  /** Campaigns that need no further chunk for now. */
  #saturatedCampaigns(): Set<string> {
    const supplied = new Set<string>();
    for (const server of this.#servers.all) {
      for (const { campaign } of server.batches) {
        if (!this.#needsChunk(server, campaign.campaign_id)) supplied.add(campaign.campaign_id);
      }
    }
    return supplied;
  }

  #serversFor(campaigns: readonly ClaimableCampaign[], admission: BatchAdmission) {
    return this.#servers.forCampaigns(campaigns.filter((campaign) => admission.mayServe(campaign)));
  }

  /** True: another check may find more. */
  async #claimChunks(): Promise<boolean> {
    const { owner, settings, reads } = this.#context;
    const timeline = this.#context.history.timeline;
    if (timeline === undefined) return false;
    const admission = new BatchAdmission(this.#servers, "chunk", settings.maxBatches);
    const found = await claimableCampaigns(this.#excluded(admission, this.#saturatedCampaigns()), reads);
    const served = new Map<string, { campaign: ClaimableCampaign; server: Server }>();
    const servers = await this.#serversFor(found, admission);
    for (const campaign of found) {
      const server = servers.get(campaign.smtp_config_id);
      if (!server || !admission.mayServe(campaign)) continue;
      if (!this.#needsChunk(server, campaign.campaign_id) || !admission.admit(campaign, server)) continue;
      served.set(campaign.campaign_id, { campaign, server });
    }
    if (served.size === 0 || this.#stopped) return false;
    const tokens = await bounceTokens();
    const validFrom = performance.now();
    const campaigns = [...served.values()].map(({ campaign }) => campaign);
    const leased = await leaseChunks(campaigns, owner, settings.leaseMs, timeline);
    for (const lease of leased) {
      const { campaign, server } = served.get(lease.campaign_id)!;
      const chunk: LeasedChunk = {
        ...lease,
        companyId: campaign.company_id,
        campaignId: campaign.campaign_id,
        markedTo: lease.lo - 1,
        validFrom,
      };
      const source = new ChunkSource(this.#context, campaign, chunk);
      const batch = this.#begin(server, campaign, source, tokens);
      batchClaimed(batch, validFrom);
      if (this.#stopped || this.#skippedCampaigns.has(campaign.campaign_id)) batch.end();
    }
    if (leased.length === 0) return false;
    if (found.length === MAX_CAMPAIGNS) return true;
    return [...served.values()].some(({ campaign, server }) => this.#needsChunk(server, campaign.campaign_id));
  }

  /** Claims due deferred recipients or copies: one batch per campaign and kind, in parallel with its chunks. */
  async #claimDue(kind: "retries" | "copies"): Promise<void> {
    const { settings, reads } = this.#context;
    if (this.#context.history.timeline === undefined) return;
    const admission = new BatchAdmission(this.#servers, kind, settings.maxBatches);
    const batches = [...this.#servers.batches()].filter((batch) => batch.kind === kind);
    const campaignIds = batches.map(({ campaign }) => campaign.campaign_id);
    const excluded = this.#excluded(admission, campaignIds);
    const found =
      kind === "retries"
        ? await campaignsWithDueRetries(excluded, reads)
        : await campaignsWithDueCopies(excluded, reads);
    const tokens = await bounceTokens();
    const servers = await this.#serversFor(found, admission);
    for (const campaign of found) {
      const server = servers.get(campaign.smtp_config_id);
      if (!server || this.#stopped || !admission.mayServe(campaign)) continue;
      if (!admission.admit(campaign, server)) continue;
      const source = new DueSource(this.#context, campaign, kind);
      batchClaimed(this.#begin(server, campaign, source, tokens), performance.now());
    }
  }

  #begin(server: Server, campaign: ClaimableCampaign, source: RecipientSource, tokens: BounceTokens): Batch {
    const sender = envelopeSender(campaign, tokens);
    const granters = server.granters(campaign, source.kind);
    const batch = new Batch(this.#context, server.preparation, { campaign, source, sender, granters });
    server.add(batch);
    void batch.over.then((end) => this.release(batch, end));
    return batch;
  }

  /** Releases or completes the chunk of a finished batch. */
  async release(batch: Batch, end: BatchEnd): Promise<void> {
    const { chunk } = batch;
    const { campaign_id } = batch.campaign;
    batchOver(batch, end.complete && !end.leaseIsLost);
    const work = this.#releaseLease(chunk, end).catch((error: Error) => {
      this.#context.outage.report(error);
      return false;
    });
    this.#ending.add(work);
    if (chunk) this.endingChunks.add(chunk);
    const isFinal = await work;
    this.#ending.delete(work);
    if (chunk) this.endingChunks.delete(chunk);
    batch.leaseReturned();
    const more = [...this.#servers.batches()].some(({ campaign }) => campaign.campaign_id === campaign_id);
    if (isFinal && !more) this.#context.outputs.campaignDrained(campaign_id);
    this.check();
  }

  /**
   * If all results were recorded, the other recipients were certainly not sent. The lease is released even if it seems
   * lost (the database was unavailable for longer than the lease), because marked recipients would otherwise end in
   * doubt. If recovery has already taken it, those it marked as in doubt are queued again. Returns true if nothing of
   * the batch waits for the lease to expire.
   */
  async #releaseLease(chunk: LeasedChunk | null, { complete, leaseIsLost }: BatchEnd): Promise<boolean> {
    if (!chunk) return true;
    // A result could not be stored: only the expiry of the lease may decide about its recipient.
    if (chunk.abandonedTo !== undefined) return false;
    const { owner, recorder, outage } = this.#context;
    if (complete && !leaseIsLost) return recorder.close(chunk);
    await outage.retryUntilDone(
      `releasing the lease on chunk ${chunk.no} of campaign ${chunk.campaignId}`,
      async () => {
        const released = await releaseChunks([{ ...chunk, company_id: chunk.companyId }], owner);
        if (released === 0 && !chunk.historyIsLost) await requeueUnsent(chunk);
      },
    );
    return true;
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#round;
  }

  async settled(): Promise<void> {
    while (this.#ending.size > 0) await Promise.all([...this.#ending]);
  }
}
