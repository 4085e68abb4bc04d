/**
 * Recipients of one campaign on their way from the rows to the connections: a leased chunk, or deferred ones that are
 * due. Works in groups: budget → rows (read ahead) → the steps of deliver.ts → tokens of the hour → marked in the database
 * while it is rendered → ready. Connections pull from `ready`, so a slow server never holds more than it asks for.
 *
 * open      prepares groups while there are rows.
 * ending    prepares nothing more; what was handed over is waited for, then the lease is given back.
 * over      nothing of it is left in this process.
 */
import { performance } from "node:perf_hooks";
import type { EngineContext } from "../engine/context.ts";
import { limiterWaited } from "../engine/metrics.ts";
import { HourLimit } from "../limits/hour-limit.ts";
import type { SmtpTransport } from "../transport/smtp-transport.ts";
import type { Outcome } from "./outcome.ts";
import { prepare } from "./prepare.ts";
import type { PreparedMail } from "./prepared-mail.ts";
import type { RecipientSource } from "./recipient-source.ts";
import type { LeasedChunk } from "./recorder.ts";
import type { ClaimableCampaign, RecipientRow } from "./rows.ts";

const QUEUED: Outcome = { status: "queued", error: null, reply: null };
/** A company without room in its hour for longer than this gives its leases back. */
const SHORT_WAIT_MS = 2_000;
const TROUBLE_PAUSE_MS = 1_000;

export class BatchDelivery {
  readonly campaign: ClaimableCampaign;
  readonly transport: SmtpTransport;
  readonly source: RecipientSource;
  readonly ready: PreparedMail[] = [];
  /** Taken from the budget and not recorded. */
  unrecorded = 0;
  state: "open" | "ending" | "over" = "open";
  /** The lane with the campaign's chunk before this one, while there is one. */
  previous: BatchDelivery | undefined;
  /** The next chunk has been looked for. */
  askedForMore = false;
  readonly tokens: HourLimit;
  #tools: EngineContext;
  #preparing = false;
  #pausedUntil = 0;
  #keepLease = false;
  #endsWhenEmpty = false;
  /** Given to a connection and not answered. */
  #handed = new Set<PreparedMail>();

  constructor(tools: EngineContext, relay: SmtpTransport, turn: ClaimableCampaign, source: RecipientSource) {
    this.#tools = tools;
    this.transport = relay;
    this.campaign = turn;
    this.source = source;
    this.tokens = new HourLimit(tools.limiter, turn, tools.settings.windowSeconds);
  }

  get handedOver(): number {
    return this.#handed.size;
  }

  get chunk(): LeasedChunk | null {
    return this.source.chunk;
  }

  /** About how many more recipients it will bring. */
  get left(): number {
    return this.ready.length + this.source.left;
  }

  /** Prepares the next group, if the relay and the budget have room for one. */
  fill(): void {
    if (this.#preparing || this.state !== "open" || this.#endsWhenEmpty || performance.now() < this.#pausedUntil)
      return;
    const wanted = this.transport.wanted(this);
    if (wanted === 0) return;
    const n = this.source.exhausted
      ? 0
      : this.#tools.budget.take(this.transport, wanted, this.campaign.is_transactional);
    if (n === 0) {
      this.endIfDone();
      return;
    }
    this.#preparing = true;
    void prepare(this, this.#tools, n)
      .catch((error: Error) => {
        this.#tools.reportOutage(error);
        this.#pause(TROUBLE_PAUSE_MS);
      })
      .finally(() => {
        this.#preparing = false;
        this.transport.wake();
        this.endIfDone();
      });
  }

  /** The hour has no room for more. */
  waitForHour(ms: number): void {
    limiterWaited("hour");
    if (ms <= SHORT_WAIT_MS) {
      this.#pause(ms);
      return;
    }
    this.#tools.parkCompany(this.campaign.company_id, Math.min(ms, this.#tools.settings.roomAgainMs));
    // Not at once: those there was room for are on their way.
    this.#endsWhenEmpty = true;
  }

  #pause(ms: number): void {
    this.#pausedUntil = performance.now() + ms;
    setTimeout(() => this.fill(), ms + 1).unref();
  }

  /** Rows that were taken and not handed over: back to the front of the chunk, or to the queue of the deferred. */
  putBack(rows: readonly RecipientRow[]): void {
    if (this.source.putBack(rows)) {
      this.unrecorded -= rows.length;
      this.#tools.budget.give(this.transport, rows.length);
    } else {
      for (const row of rows) this.record(row, QUEUED, 0);
    }
  }

  next(): PreparedMail | undefined {
    for (let next = this.ready.shift(); next; next = this.ready.shift()) {
      if (this.tokens.isFresh(next.token)) {
        this.#handed.add(next);
        return next;
      }
      void this.tokens.give(next.token);
      this.putBack([next.row]);
    }
    return undefined;
  }

  /** Right before the body is written: the lease is ours and the token has not become too old. */
  mayStillSend({ row, token }: PreparedMail): boolean {
    return this.source.stillOurs(row) && this.tokens.isValid(token);
  }

  /** A connection ended before it could send this one. */
  again(waiting: PreparedMail): void {
    this.#handed.delete(waiting);
    if (this.state === "open") {
      this.ready.unshift(waiting);
    } else {
      void this.tokens.give(waiting.token);
      this.putBack([waiting.row]);
      this.endIfDone();
    }
  }

  /** The last word on a mail that was handed over. Only what was accepted, or may have been, counts in the hour. */
  answered(mail: PreparedMail, outcome: Outcome, delayMs: number | null, counts: boolean): void {
    this.#handed.delete(mail);
    const { row, token } = mail;
    if (!counts) void this.tokens.give(token);
    this.record(row, outcome, delayMs);
  }

  record(row: RecipientRow, outcome: Outcome, delayMs: number | null = null): void {
    this.source.settled(row);
    this.#tools.recorder.add({
      companyId: this.campaign.company_id,
      campaignId: this.campaign.campaign_id,
      chunk: this.chunk,
      seq: row.seq,
      attempts: row.attempts,
      outcome,
      delayMs: outcome.status === "queued" && !this.chunk ? (delayMs ?? 0) : delayMs,
      by: this,
    });
    this.#tools.count(outcome.status);
  }

  recorded(n: number): void {
    this.unrecorded -= n;
    this.#tools.budget.give(this.transport, n);
    this.transport.recorded(n);
    this.endIfDone();
  }

  /** Mails that are ready go back, so that a server which hangs holds none of the budget for them. */
  takeBack(): void {
    const jobs = this.ready.splice(0);
    if (jobs.length === 0) return;
    for (const { token } of jobs) void this.tokens.give(token);
    const rows = jobs.map(({ row }) => row);
    const { chunk } = this;
    if (!chunk || this.#preparing || this.state !== "open") {
      this.putBack(rows);
      return;
    }
    // They are the last ones that were marked: the mark goes back to before them, and only then the budget.
    const before = Math.min(...rows.map(({ seq }) => seq)) - 1;
    const mark = Math.max(before, ...[...this.#handed].map(({ row }) => row.seq));
    this.#preparing = true;
    void this.source.unmark(mark).then((held) => {
      this.#preparing = false;
      this.putBack(rows);
      if (!held) this.leaseLost();
      this.endIfDone();
    });
  }

  /** Prepares no more; `keepLease` leaves what is in doubt to the lease's end. */
  end(): void {
    if (this.state !== "open") return;
    this.state = "ending";
    const jobs = this.ready.splice(0);
    for (const { token } of jobs) void this.tokens.give(token);
    this.putBack(jobs.map(({ row }) => row));
    this.endIfDone();
  }

  /** Another sender has the lease, or will have: nothing more may be handed over or written. */
  leaseLost(): void {
    this.#keepLease = true;
    this.end();
  }

  /** Called after each step that may have been the last, and now and then: a lane that is forgotten holds its lease for ever. */
  endIfDone(): void {
    if (this.state === "over" || this.#preparing || this.unrecorded + this.handedOver + this.ready.length > 0) return;
    if (this.state === "open" && this.#endsWhenEmpty) {
      this.end();
      return;
    }
    if (this.state === "open" && !this.source.exhausted) return;
    const whole = this.state === "open";
    this.state = "over";
    this.transport.removeBatch(this);
    this.#tools.batchOver(this, whole, this.#keepLease);
  }
}
