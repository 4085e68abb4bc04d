/**
 * One SMTP configuration at work: its lanes on one side, its connections on the other. Connections pull: copies first,
 * then what its lanes (relay-lanes.ts) give.
 */
import { performance } from "node:perf_hooks";
import { type RelayConfig, relayConfig } from "../configs/transport-config.ts";
import { backOff, worksAgain } from "../delivery/back-off.ts";
import type { Lane } from "../delivery/batch-delivery.ts";
import { Deferrals } from "../delivery/deferrals.ts";
import { outcomeOf } from "../delivery/outcome.ts";
import type { Job } from "../delivery/prepared-mail.ts";
import { retryAfterMs } from "../delivery/retry.ts";
import type { Tools } from "../engine/context.ts";
import { smtpAnswered } from "../engine/metrics.ts";
import type { Holder } from "../limits/in-doubt-budget.ts";
import { Pace } from "../limits/per-second-limit.ts";
import type { Verdict } from "../smtp/message.ts";
import type { Reply } from "../smtp/replies.ts";
import type { OpenError } from "../smtp/session.ts";
import { type Connection, Connections } from "./connection-pool.ts";
import { Copies } from "./copies.ts";
import { MAX_GROUP, roomFor } from "./room.ts";
import { Pulse } from "./throughput-meter.ts";
import { RelayLanes } from "./transport-queue.ts";

/** A mail that met this many ended sessions waits like any other that was deferred. */
const MAX_UNSENT = 3;
const SLOW_MS = 1_000;
const NO_SLOT_MS = 500;
/** Rendered mails of the process. Any relay may hold one, however large. */
const MAILS_BYTES = 48 * 1024 * 1024;

export class Relay implements Holder {
  config: RelayConfig;
  held = 0;
  slow = false;
  lastError: string | null = null;
  backingOffUntil = 0;
  /** By those that were rendered last. */
  mailBytes = 1;
  /** Its configuration is gone: what is in the air ends, and nothing begins. */
  deleted = false;
  readonly #lanes = new RelayLanes();
  readonly connections: Connections;
  readonly pulse = new Pulse();
  #tools: Tools;
  #pace: Pace;
  readonly #copies = new Copies();
  #deferrals = new Deferrals();
  #closed = false;

  constructor(tools: Tools, config: RelayConfig) {
    this.#tools = tools;
    this.config = config;
    this.#pace = new Pace(tools, config.id, () => this.wake());
    this.connections = new Connections(
      {
        endpoint: () => this.config,
        work: () => this.#work,
        next: () => this.#hand(),
        stillOurs: (job) => job.primary !== undefined || job.lane.mayLeave(job),
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

  addLane(lane: Lane): void {
    this.#lanes.add(lane);
    this.wake();
  }

  removeLane(lane: Lane): void {
    this.#lanes.remove(lane);
  }

  get lanes(): readonly Lane[] {
    return this.#lanes.all;
  }

  /** Mails that connections could be sending. None while the server is left alone: copies of a mail wait, too. */
  get #work(): number {
    if (performance.now() < this.backingOffUntil) return 0;
    return this.#copies.size + this.#lanes.work;
  }

  get idle(): boolean {
    return this.lanes.length === 0 && this.#copies.size === 0 && this.connections.size === 0;
  }

  wake(): void {
    if (this.#closed) return;
    this.connections.wake();
    if (this.connections.size > 0) for (const lane of [...this.lanes]) lane.fill();
  }

  retry(): void {
    this.wake();
  }

  /** How many more recipients the lane may prepare now. */
  wanted(lane: Lane): number {
    const { size } = this.connections;
    if (size === 0 || this.#closed) return 0;
    const busy = 2 * size + (this.slow ? 0 : 2 * this.pulse.recent);
    const window = Math.min(this.#tools.settings.maxInDoubt, busy, this.#inMemory);
    const connectionIdle = lane.ready.length === 0 && this.connections.busy < size;
    return roomFor(lane, { window, held: this.held, campaigns: this.#lanes.campaigns, connectionIdle });
  }

  /** Mails of a megabyte are held by the dozen, not by the hundred. */
  get #inMemory(): number {
    const free = MAILS_BYTES - this.#tools.budget.bytes;
    return Math.max(1, this.held + Math.floor(free / this.mailBytes));
  }

  #hand(): Job | undefined {
    const job = this.#next();
    if (job) job.handedAtMs = performance.now();
    return job;
  }

  #next(): Job | undefined {
    if (this.#closed || performance.now() < this.backingOffUntil) return undefined;
    const copy = this.#copies.next();
    if (copy) return copy;
    if (this.#lanes.anyReady && !this.#pace.mayGo(this.config.maxPerSecond)) return undefined;
    return this.#lanes.next();
  }

  recorded(n: number): void {
    this.pulse.add(n);
    for (const lane of this.lanes) {
      if (lane.ready.length < MAX_GROUP / 2) lane.fill();
      if (!lane.askedForMore && lane.left < this.pulse.readAheadAt) {
        lane.askedForMore = true;
        this.#tools.kick();
      }
    }
  }

  #answered(job: Job, verdict: Verdict, connection: Connection): void {
    smtpAnswered(verdict.kind, (performance.now() - job.handedAtMs) / 1_000);
    if (job.primary) {
      this.#copies.answered(job, verdict, this.#closed);
      return;
    }
    if (verdict.kind === "unsent" && connection.accepted > 0 && ++job.unsent < MAX_UNSENT) {
      job.lane.again(job);
      return;
    }
    if (verdict.kind === "accepted" && job.copy) {
      this.#copies.add(job, verdict.reply);
      this.connections.wake();
      return;
    }
    const tries = job.row.attempts + (job.lane.chunk ? 1 : 0);
    this.#settle(job, verdict, tries);
    const refusal = this.#deferrals.seen(verdict);
    if (refusal) void this.backOff(`The SMTP server accepts no mail at the moment: ${refusal.text}`);
  }

  #settle(job: Job, verdict: Verdict, tries: number): void {
    const outcome = outcomeOf(verdict, { tries, isTransactional: job.lane.turn.is_transactional });
    const delayMs = outcome.status === "deferred" ? retryAfterMs(tries, this.#tools.settings.retryBaseMs) : null;
    job.lane.answered(job, outcome, delayMs, verdict.kind === "accepted" || verdict.kind === "doubt");
    if (outcome.stops) void this.#stop([job.lane], outcome.stops);
  }

  #opened(): void {
    this.#copies.opened();
    if (this.config.failingForMs !== null || this.lastError !== null) {
      this.config.failingForMs = null;
      this.lastError = null;
      void worksAgain(this.config).catch((error: Error) => this.#tools.trouble(error));
    }
    this.wake();
  }

  /** What was leased here goes back at once, to the nodes that have the connections. */
  #noSlot(error?: Error): void {
    if (error) this.#tools.trouble(error);
    if (this.connections.size > 0) return;
    this.backingOffUntil = performance.now() + NO_SLOT_MS;
    for (const lane of [...this.lanes]) {
      lane.end();
      if (lane.turn.is_transactional) this.#tools.passOn(lane.turn);
    }
  }

  #cannotOpen(error: OpenError): void {
    this.lastError = error.message;
    this.#copies.notOpened(error.permanent);
    if (error.permanent) void this.#stop([...this.lanes], error.message);
    else void this.backOff(error.message);
  }

  #broke(reason: string, connection: Connection, reply?: Reply): void {
    // It worked until now: a limit per connection, an idle time-out, a restart. Others take its place.
    if (connection.accepted > 0 || connection.tried === 0 || this.connections.size > 0) {
      if (reply === undefined) this.#tools.kick();
      this.wake();
      return;
    }
    void this.backOff(reason);
  }

  async #stop(lanes: readonly Lane[], error: string): Promise<void> {
    for (const lane of lanes) lane.end();
    const campaigns = new Map(lanes.map(({ turn }) => [turn.campaign_id, turn.company_id]));
    for (const [campaignId, companyId] of campaigns) await this.#tools.stopCampaign(companyId, campaignId, error);
  }

  /** Leaves the server alone for a while; the leases go back, nothing of its mail is touched. */
  async backOff(error: string): Promise<void> {
    this.lastError = error;
    this.#deferrals.over();
    // At least until the row says for how long.
    this.backingOffUntil = performance.now() + SLOW_MS;
    const lanes = [...this.lanes];
    for (const lane of lanes) lane.end();
    try {
      const { ms, hopeless } = await backOff(this.config, error, this.#tools.settings.retryBaseMs);
      this.backingOffUntil = performance.now() + ms;
      if (hopeless) await this.#stop(lanes, `The SMTP server could not be used for 24 hours. ${error}`);
      setTimeout(() => this.#tools.kick(), ms + 10).unref();
    } catch (trouble) {
      this.#tools.trouble(trouble as Error);
    }
  }

  /** Reads the configuration again; connections made from the old one end after the mail they are at. */
  async reload(): Promise<void> {
    const fresh = await relayConfig(this.config.companyId, this.config.id);
    if (!fresh) {
      this.deleted = true;
      this.#copies.end();
      await this.#stop([...this.lanes], "The SMTP configuration was deleted.");
      this.connections.renew();
      return;
    }
    const changed = fresh.version !== this.config.version;
    this.config = fresh;
    if (changed) this.connections.renew();
  }

  /** Looked at a few times a second: is it slow, is it idle. */
  tick(idleMs: number): void {
    this.pulse.tick();
    const now = performance.now();
    let oldest = 0;
    for (const { busySince } of this.connections.all) {
      if (busySince !== undefined) oldest = Math.max(oldest, now - busySince);
    }
    const slow = oldest > SLOW_MS;
    if (slow && !this.slow) for (const lane of this.lanes) lane.takeBack();
    this.#tools.budget.judge(this, slow);
    for (const lane of [...this.lanes]) lane.endIfDone();
    this.connections.closeUnneeded(idleMs);
    this.wake();
  }

  async close(withinMs: number): Promise<void> {
    this.#closed = true;
    for (const lane of [...this.lanes]) lane.end();
    await this.connections.close(withinMs);
    this.#copies.end();
    this.#tools.budget.forget(this);
  }
}
