/**
 * One SMTP configuration at work: its lanes on one side, its connections on the other. Connections pull: copies first,
 * then what its lanes (relay-lanes.ts) give.
 */
import { performance } from "node:perf_hooks";
import { readTransportConfig, type TransportConfig } from "../configs/transport-config.ts";
import { backOff, worksAgain } from "../delivery/back-off.ts";
import type { BatchDelivery } from "../delivery/batch-delivery.ts";
import { Deferrals } from "../delivery/deferrals.ts";
import { outcomeOf } from "../delivery/outcome.ts";
import type { PreparedMail } from "../delivery/prepared-mail.ts";
import { retryAfterMs } from "../delivery/retry.ts";
import type { EngineContext } from "../engine/context.ts";
import { smtpAnswered } from "../engine/metrics.ts";
import type { BudgetClient } from "../limits/in-doubt-budget.ts";
import { PerSecondLimit } from "../limits/per-second-limit.ts";
import type { TransactionResult } from "../smtp/message.ts";
import type { Reply } from "../smtp/replies.ts";
import type { OpenError } from "../smtp/session.ts";
import { type Connection, ConnectionPool } from "./connection-pool.ts";
import { CopyQueue } from "./copies.ts";
import { MAX_GROUP, roomFor } from "./room.ts";
import { ThroughputMeter } from "./throughput-meter.ts";
import { TransportQueue } from "./transport-queue.ts";

/** A mail that met this many ended sessions waits like any other that was deferred. */
const MAX_UNSENT = 3;
const SLOW_MS = 1_000;
const NO_SLOT_MS = 500;
/** Rendered mails of the process. Any relay may hold one, however large. */
const MAILS_BYTES = 48 * 1024 * 1024;

export class SmtpTransport implements BudgetClient {
  config: TransportConfig;
  held = 0;
  slow = false;
  lastError: string | null = null;
  backingOffUntil = 0;
  /** By those that were rendered last. */
  mailBytes = 1;
  /** Its configuration is gone: what is in the air ends, and nothing begins. */
  deleted = false;
  readonly #lanes = new TransportQueue();
  readonly connections: ConnectionPool;
  readonly throughput = new ThroughputMeter();
  #tools: EngineContext;
  #pace: PerSecondLimit;
  readonly #copies = new CopyQueue();
  #deferrals = new Deferrals();
  #closed = false;

  constructor(tools: EngineContext, config: TransportConfig) {
    this.#tools = tools;
    this.config = config;
    this.#pace = new PerSecondLimit(tools, config.id, () => this.wake());
    this.connections = new ConnectionPool(
      {
        endpoint: () => this.config,
        work: () => this.#work,
        next: () => this.#hand(),
        stillOurs: (job) => job.primary !== undefined || job.batch.mayStillSend(job),
        answered: (job, verdict, connection) => this.#answered(job, verdict, connection),
        opened: () => this.#opened(),
        noSlot: (error) => this.#noSlot(error),
        cannotOpen: (error) => this.#cannotOpen(error),
        broke: (reason, connection, reply) => this.#broke(reason, connection, reply),
      },
      tools.settings,
      tools.slots(config.id, () => this.#work > 0),
    );
  }

  addBatch(lane: BatchDelivery): void {
    this.#lanes.add(lane);
    this.wake();
  }

  removeBatch(lane: BatchDelivery): void {
    this.#lanes.remove(lane);
  }

  get batches(): readonly BatchDelivery[] {
    return this.#lanes.all;
  }

  /** Mails that connections could be sending. None while the server is left alone: copies of a mail wait, too. */
  get #work(): number {
    if (performance.now() < this.backingOffUntil) return 0;
    return this.#copies.size + this.#lanes.work;
  }

  get idle(): boolean {
    return this.batches.length === 0 && this.#copies.size === 0 && this.connections.size === 0;
  }

  wake(): void {
    if (this.#closed) return;
    this.connections.wake();
    if (this.connections.size > 0) for (const lane of [...this.batches]) lane.fill();
  }

  retry(): void {
    this.wake();
  }

  /** How many more recipients the lane may prepare now. */
  wanted(lane: BatchDelivery): number {
    const { size } = this.connections;
    if (size === 0 || this.#closed) return 0;
    const busy = 2 * size + (this.slow ? 0 : 2 * this.throughput.recent);
    const window = Math.min(this.#tools.settings.maxInDoubt, busy, this.#inMemory);
    const connectionIdle = lane.ready.length === 0 && this.connections.busy < size;
    return roomFor(lane, { window, held: this.held, campaigns: this.#lanes.campaigns, connectionIdle });
  }

  /** Mails of a megabyte are held by the dozen, not by the hundred. */
  get #inMemory(): number {
    const free = MAILS_BYTES - this.#tools.budget.bytes;
    return Math.max(1, this.held + Math.floor(free / this.mailBytes));
  }

  #hand(): PreparedMail | undefined {
    const job = this.#next();
    if (job) job.handedAtMs = performance.now();
    return job;
  }

  #next(): PreparedMail | undefined {
    if (this.#closed || performance.now() < this.backingOffUntil) return undefined;
    const copy = this.#copies.next();
    if (copy) return copy;
    if (this.#lanes.anyReady && !this.#pace.mayGo(this.config.maxPerSecond)) return undefined;
    return this.#lanes.next();
  }

  recorded(n: number): void {
    this.throughput.add(n);
    for (const lane of this.batches) {
      if (lane.ready.length < MAX_GROUP / 2) lane.fill();
      if (!lane.askedForMore && lane.left < this.throughput.readAheadAt) {
        lane.askedForMore = true;
        this.#tools.lookForWork();
      }
    }
  }

  #answered(job: PreparedMail, verdict: TransactionResult, connection: Connection): void {
    smtpAnswered(verdict.kind, (performance.now() - job.handedAtMs) / 1_000);
    if (job.primary) {
      this.#copies.answered(job, verdict, this.#closed);
      return;
    }
    if (verdict.kind === "unsent" && connection.accepted > 0 && ++job.unsent < MAX_UNSENT) {
      job.batch.again(job);
      return;
    }
    if (verdict.kind === "accepted" && job.copy) {
      this.#copies.add(job, verdict.reply);
      this.connections.wake();
      return;
    }
    const tries = job.row.attempts + (job.batch.chunk ? 1 : 0);
    this.#settle(job, verdict, tries);
    const refusal = this.#deferrals.seen(verdict);
    if (refusal) void this.backOff(`The SMTP server accepts no mail at the moment: ${refusal.text}`);
  }

  #settle(job: PreparedMail, verdict: TransactionResult, tries: number): void {
    const outcome = outcomeOf(verdict, { tries, isTransactional: job.batch.campaign.is_transactional });
    const delayMs = outcome.status === "deferred" ? retryAfterMs(tries, this.#tools.settings.retryBaseMs) : null;
    job.batch.answered(job, outcome, delayMs, verdict.kind === "accepted" || verdict.kind === "doubt");
    if (outcome.stops) void this.#stop([job.batch], outcome.stops);
  }

  #opened(): void {
    this.#copies.opened();
    if (this.config.failingForMs !== null || this.lastError !== null) {
      this.config.failingForMs = null;
      this.lastError = null;
      void worksAgain(this.config).catch((error: Error) => this.#tools.reportOutage(error));
    }
    this.wake();
  }

  /** What was leased here goes back at once, to the nodes that have the connections. */
  #noSlot(error?: Error): void {
    if (error) this.#tools.reportOutage(error);
    if (this.connections.size > 0) return;
    this.backingOffUntil = performance.now() + NO_SLOT_MS;
    for (const lane of [...this.batches]) {
      lane.end();
      if (lane.campaign.is_transactional) this.#tools.notifyOtherNodes(lane.campaign);
    }
  }

  #cannotOpen(error: OpenError): void {
    this.lastError = error.message;
    const permanent = error.isPermanent(this.config.workedBefore);
    this.#copies.notOpened(permanent);
    if (permanent) void this.#stop([...this.batches], error.message);
    else void this.backOff(error.message);
  }

  #broke(reason: string, connection: Connection, reply?: Reply): void {
    // It worked until now: a limit per connection, an idle time-out, a restart. Others take its place.
    if (connection.accepted > 0 || connection.tried === 0 || this.connections.size > 0) {
      if (reply === undefined) this.#tools.lookForWork();
      this.wake();
      return;
    }
    void this.backOff(reason);
  }

  async #stop(lanes: readonly BatchDelivery[], error: string): Promise<void> {
    for (const lane of lanes) lane.end();
    const campaigns = new Map(lanes.map(({ campaign: turn }) => [turn.campaign_id, turn.company_id]));
    for (const [campaignId, companyId] of campaigns) await this.#tools.stopCampaign(companyId, campaignId, error);
  }

  /** Leaves the server alone for a while; the leases go back, nothing of its mail is touched. */
  async backOff(error: string): Promise<void> {
    this.lastError = error;
    this.#deferrals.over();
    // At least until the row says for how long.
    this.backingOffUntil = performance.now() + SLOW_MS;
    const lanes = [...this.batches];
    for (const lane of lanes) lane.end();
    try {
      const { ms, hopeless } = await backOff(this.config, error, this.#tools.settings.retryBaseMs);
      this.backingOffUntil = performance.now() + ms;
      if (hopeless) await this.#stop(lanes, `The SMTP server could not be used for 24 hours. ${error}`);
      setTimeout(() => this.#tools.lookForWork(), ms + 10).unref();
    } catch (trouble) {
      this.#tools.reportOutage(trouble as Error);
    }
  }

  /** Reads the configuration again; connections made from the old one end after the mail they are at. */
  async reload(): Promise<void> {
    const fresh = await readTransportConfig(this.config.companyId, this.config.id);
    if (!fresh) {
      this.deleted = true;
      this.#copies.end();
      await this.#stop([...this.batches], "The SMTP configuration was deleted.");
      this.connections.renew();
      return;
    }
    const changed = fresh.version !== this.config.version;
    this.config = fresh;
    if (changed) this.connections.renew();
  }

  /** Looked at a few times a second: is it slow, is it idle. */
  tick(idleMs: number): void {
    this.throughput.tick();
    const now = performance.now();
    let oldest = 0;
    for (const { busySince } of this.connections.all) {
      if (busySince !== undefined) oldest = Math.max(oldest, now - busySince);
    }
    const slow = oldest > SLOW_MS;
    if (slow && !this.slow) for (const lane of this.batches) lane.takeBack();
    this.#tools.budget.setSlow(this, slow);
    for (const lane of [...this.batches]) lane.endIfDone();
    this.connections.closeUnneeded(idleMs);
    this.wake();
  }

  async close(withinMs: number): Promise<void> {
    this.#closed = true;
    for (const lane of [...this.batches]) lane.end();
    await this.connections.close(withinMs);
    this.#copies.end();
    this.#tools.budget.forget(this);
  }
}
