/**
 * Runs delivery on one node: claims work, keeps a server per SMTP configuration in use, recovers leases of dead
 * senders, and stops in order. The database is authoritative; an event (`checkForWork`) only shortens the wait for the
 * next round of claiming.
 */
import { randomBytes } from "node:crypto";
import { performance } from "node:perf_hooks";
import type { Limiter } from "../../lib/limits/limiter.ts";
import { withTimeout } from "../../lib/timeouts.ts";
import type { AskedLease, GivenUp, Peers } from "../claim/ask-owners.ts";
import { Claimer } from "../claim/claimer.ts";
import { giveUpLeases } from "../claim/give-up-leases.ts";
import type { Batch } from "../delivery/batch.ts";
import { Recorder } from "../delivery/recorder.ts";
import type { FlushReport, RefusedResult } from "../delivery/result-writer.ts";
import { type ConnectionSlots, LocalConnectionSlots } from "../limits/connection-slots.ts";
import { InDoubtBudget } from "../limits/in-doubt-budget.ts";
import { UnknownLimits } from "../limits/unknown-limits.ts";
import { Servers } from "../server/servers.ts";
import type { EngineContext, NodeOutputs } from "./context.ts";
import { DatabaseHistory } from "./database-history.ts";
import { DependencyOutage, type Log } from "./dependency-outage.ts";
import { LeaseRecovery } from "./lease-recovery.ts";
import { PinnedConnection } from "./pinned-connection.ts";
import { recogniseDatabase } from "./restored-database.ts";
import type { EngineSettings } from "./settings.ts";
import { Stops } from "./stops.ts";

const TICK_MS = 250;
const RECOVER_MS = 2_000;
const SETTLE_PAUSE_MS = 5;

/** Functions and connections provided to the engine. */
export interface EngineOutputs extends NodeOutputs {
  limiter: Limiter;
  log: Log;
  /** The other senders, which are asked about expired leases. Absent on a single node. */
  peers?: Peers;
  /** Counts connections over all nodes. Absent on a single node. */
  slots?(smtpConfigId: string, hasWork: () => boolean): ConnectionSlots;
  /** Called when webhooks were queued for these companies. */
  webhooksQueued(companyIds: readonly string[]): void;
}

export class Engine implements EngineContext {
  readonly owner: string;
  readonly settings: EngineSettings;
  readonly outputs: EngineOutputs;
  readonly limiter: Limiter;
  readonly budget: InDoubtBudget;
  readonly unknownLimits = new UnknownLimits();
  readonly reads = new PinnedConnection();
  readonly counts = { sent: 0, failed: 0, deferred: 0 };
  readonly outage: DependencyOutage;
  readonly recorder: Recorder;
  readonly servers: Servers;
  readonly claims: Claimer;
  readonly stops: Stops;
  readonly history: DatabaseHistory;
  stopping = false;
  #writes = new PinnedConnection();
  #timers: NodeJS.Timeout[] = [];
  #recovery: LeaseRecovery;
  #stopped: Promise<void> | undefined;

  constructor(node: string, settings: EngineSettings, outputs: EngineOutputs) {
    this.owner = `${node}:${randomBytes(4).toString("hex")}`;
    this.settings = settings;
    this.outputs = outputs;
    this.limiter = outputs.limiter;
    this.budget = new InDoubtBudget(settings.maxInDoubt);
    this.outage = new DependencyOutage(outputs.log);
    this.recorder = new Recorder({
      connection: this.#writes,
      owner: this.owner,
      leaseMs: settings.leaseMs,
      groupSize: Math.max(1, Math.floor(settings.maxInDoubt / 2)),
      log: outputs.log,
      onFlushed: (report) => this.#flushed(report),
      onOutage: (error) => this.outage.report(error),
    });
    this.history = new DatabaseHistory({
      log: outputs.log,
      peers: outputs.peers,
      endBatches: () => this.#endBatchesOfLostHistory(),
      hasBatches: () => !this.servers.batches().next().done || this.claims.endingChunks.size > 0,
      writeAgain: () => this.recorder.writeAgain(),
      recognise: (moment, wasRunning) =>
        recogniseDatabase(moment, { log: outputs.log, peers: outputs.peers, wasRunning }),
      known: () => this.checkForWork(),
      stopping: () => this.stopping,
    });
    this.#recovery = new LeaseRecovery({
      history: this.history,
      owner: this.owner,
      leaseMs: settings.leaseMs,
      log: outputs.log,
      peers: outputs.peers,
      reportOutage: (error) => this.outage.report(error),
      freed: (campaignIds) => {
        for (const id of campaignIds) outputs.campaignDrained(id);
        this.checkForWork();
      },
    });
    this.servers = new Servers(this);
    this.claims = new Claimer(this, this.servers);
    this.stops = new Stops(this, outputs.log, () => this.servers.batches());
  }

  start(): void {
    this.#timers.push(
      setInterval(() => this.#tick(), TICK_MS),
      // Finds due retries and work that no event announced.
      setInterval(() => this.checkForWork(), this.settings.pollMs),
      setInterval(() => void this.recover(), Math.min(RECOVER_MS, this.settings.leaseMs / 2)),
    );
    void this.recover();
    this.checkForWork();
  }

  checkForWork(): void {
    this.claims.check();
  }

  slots(smtpConfigId: string, hasWork: () => boolean): ConnectionSlots {
    return this.outputs.slots?.(smtpConfigId, hasWork) ?? new LocalConnectionSlots();
  }

  /** Called when a configuration was changed or deleted. */
  async configChanged(smtpConfigId: string): Promise<void> {
    await this.servers.reload(smtpConfigId);
    this.claims.unparkConfig(smtpConfigId);
  }

  #tick(): void {
    this.servers.tick();
    void this.stops.check();
    this.#renewAll();
  }

  #renewAll(): void {
    for (const batch of this.servers.batches()) {
      if (batch.state !== "over") this.#renew(batch);
    }
  }

  #renew(batch: Batch): void {
    batch.source.renew().then(
      (ours) => {
        if (!ours) batch.leaseLost();
      },
      (error: Error) => this.outage.report(error),
    );
  }

  /** Frees the leases of dead senders; called by a timer and by tests. */
  recover(): Promise<void> {
    return this.#recovery.run();
  }

  /** Answers another sender that found these leases expired. */
  giveUp(leases: readonly AskedLease[]): GivenUp {
    return giveUpLeases(leases, {
      owner: this.owner,
      batches: () => this.servers.batches(),
      ending: this.claims.endingChunks,
      unwritten: () => this.recorder.unwritten,
    });
  }

  #endBatchesOfLostHistory(): void {
    for (const chunk of this.claims.endingChunks) chunk.historyIsLost = true;
    for (const batch of [...this.servers.batches()]) {
      if (batch.chunk) batch.chunk.historyIsLost = true;
      batch.end();
    }
  }

  #flushed({ lost, stopped, overGuard, webhookCompanyIds, lateCampaignIds, refused }: FlushReport): void {
    this.outage.over();
    for (const result of refused) this.#refused(result);
    for (const id of lateCampaignIds) this.outputs.campaignDrained(id);
    if (lost.length > 0) {
      const gone = new Set(lost);
      for (const batch of [...this.servers.batches()]) if (batch.chunk && gone.has(batch.chunk)) batch.leaseLost();
    }
    for (const [campaignId] of stopped) {
      this.claims.skip(campaignId);
      this.stops.endBatchesOf(campaignId);
    }
    for (const [companyId, campaignId] of overGuard) void this.stops.stopOverGuard(companyId, campaignId);
    if (webhookCompanyIds.length > 0) this.outputs.webhooksQueued(webhookCompanyIds);
  }

  #refused({ result, error, stateStored }: RefusedResult): void {
    const { campaignId, companyId, seq, outcome } = result;
    const text = stateStored
      ? "PostgreSQL refused a result: stored without its events and webhooks"
      : "PostgreSQL refused a result: its recipient ends as in doubt when the lease runs out";
    this.outputs.log.error(text, { campaignId, companyId, seq, status: outcome.status, error: error.message });
  }

  /**
   * Stops claiming, waits a limited time for emails in progress, writes their results, returns the others, and sends
   * QUIT. Emails without a reply by then are recorded as in doubt.
   */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  async #stop(): Promise<void> {
    this.stopping = true;
    for (const timer of this.#timers) clearInterval(timer);
    // Leases are renewed during the drain, which may outlast them: others would put handed-over emails in doubt.
    const renewing = setInterval(() => this.#renewAll(), TICK_MS);
    await this.claims.stop();
    const until = performance.now() + this.settings.stopMs;
    await this.servers.close(this.settings.stopMs);
    await this.#recovery.running;
    const rest = Math.max(1_000, until - performance.now());
    await this.#settled(performance.now() + rest);
    clearInterval(renewing);
    this.outage.stopRetrying();
    this.reads.close();
    this.#writes.close();
  }

  /** A batch may still wait for the renderer: its marked recipients must be returned, or they end in doubt. */
  async #settled(until: number): Promise<void> {
    for (let isDone = false; !isDone && performance.now() < until; ) {
      isDone = this.servers.batches().next().done === true;
      const written = this.recorder.drain().then(() => this.claims.settled());
      await withTimeout(written, until - performance.now(), () => new Error("late")).catch(() => {});
      if (!isDone) await new Promise((done) => setTimeout(done, SETTLE_PAUSE_MS));
    }
  }
}
