/**
 * The delivery of a batch: rows of its source → admitted to the company's hour → marked in the database → ready.
 * Connections pull from `ready`, so a slow server never holds more than it asks for. A mail is made when it is pulled, and
 * forgotten when its transaction is over.
 *
 * open      prepares groups while there are rows.
 * ending    prepares nothing more; what was handed over is waited for, then the lease is given back.
 * over      nothing of it is left in this process.
 *
 * The budget in doubt: a recipient takes one unit before it is marked, and keeps it until its result is written. Those of a
 * chunk may be taken in the place of results that are on their way (`promised`): their mark is written with these, not
 * before, so that one statement does for a group of recipients instead of two. One that is
 * put back keeps it (`#reserved`) until the mark in the database no longer covers it, or the lease is given back.
 */
import { performance } from "node:perf_hooks";
import type { EngineContext } from "../engine/context.ts";
import { limiterWaited } from "../engine/metrics.ts";
import { DayTokens } from "../limits/day-tokens.ts";
import { type HourGrant, HourLimit, type HourTokens, UNCOUNTED } from "../limits/hour-limit.ts";
import type { Batch, BatchHost, BatchKind, Mail, RecipientSource, WaitingMail } from "./batch.ts";
import type { CopyOutcome } from "./copies.ts";
import type { EnvelopeSender } from "./envelope-sender.ts";
import { type Outcome, QUEUED } from "./outcome.ts";
import { notRendered, preparedMail } from "./prepared-mail.ts";
import type { LeasedChunk } from "./recorded-result.ts";
import type { ClaimableCampaign, RecipientRow } from "./rows.ts";
import { prepareGroup } from "./steps.ts";
import { checkAgain, MAX_CHECK_AGE_MS, outcomeUnsent, RECHECK_AFTER_MS } from "./suppression.ts";

/** A company whose hour, or a configuration whose day, has no room for longer than this gives its leases back. */
const MAX_HOUR_WAIT_MS = 2_000;
const OUTAGE_PAUSE_MS = 1_000;

export class BatchDelivery implements Batch {
  readonly campaign: ClaimableCampaign;
  readonly source: RecipientSource;
  readonly hour: HourTokens;
  readonly sender: EnvelopeSender;
  readonly ready: WaitingMail[] = [];
  unrecorded = 0;
  state: "open" | "ending" | "over" = "open";
  previous: Batch | undefined;
  askedForMore = false;
  #context: EngineContext;
  #host: BatchHost;
  /** A group is being prepared, or the mark is being moved back. */
  #preparing = false;
  #rechecking = false;
  #pausedUntil = 0;
  #leaseIsLost = false;
  #endsWhenEmpty = false;
  #takesBackWhenPrepared = false;
  #handedOver = new Set<Mail>();
  /** Results that the recorder has and has not written. */
  #promised = 0;
  /** The seqs of recipients that were put back while they are marked. */
  #reserved = new Set<number>();

  constructor(
    context: EngineContext,
    host: BatchHost,
    { campaign, source, sender }: Pick<Batch, "campaign" | "source" | "sender">,
  ) {
    this.#context = context;
    this.#host = host;
    this.campaign = campaign;
    this.sender = sender;
    this.source = source;
    const hour =
      source.kind === "copies" ? UNCOUNTED : new HourLimit(context.limiter, campaign, context.settings.windowSeconds);
    this.hour = new DayTokens(hour, campaign, () => host.warmup);
  }

  get kind(): BatchKind {
    return this.source.kind;
  }

  get handedOver(): number {
    return this.#handedOver.size;
  }

  get reserved(): number {
    return this.#reserved.size;
  }

  get promised(): number {
    return this.chunk ? this.#promised : 0;
  }

  get chunk(): LeasedChunk | null {
    return this.source.chunk;
  }

  get left(): number {
    return this.ready.length + this.source.left;
  }

  fill(): void {
    if (this.#preparing || this.state !== "open" || this.#endsWhenEmpty || performance.now() < this.#pausedUntil)
      return;
    const allowed = this.#host.allowance(this);
    if (allowed === 0) return;
    // Reserved recipients come first from the source, and bring their part of the budget with them.
    const reused = [...this.#reserved].sort((a, b) => a - b).slice(0, allowed);
    const fresh = this.source.exhausted ? 0 : this.#takeBudget(allowed - reused.length);
    if (reused.length + fresh === 0) {
      this.endIfDone();
      return;
    }
    this.#preparing = true;
    void this.#prepare(reused, fresh)
      .catch((error: Error) => {
        this.#context.reportOutage(error);
        this.#pause(OUTAGE_PAUSE_MS);
      })
      .finally(() => {
        this.#preparing = false;
        if (this.#takesBackWhenPrepared) this.takeBackReady();
        this.#host.wake();
        this.endIfDone();
      });
  }

  #takeBudget(wanted: number): number {
    return wanted === 0 ? 0 : this.#host.takeBudget(wanted, this);
  }

  async #prepare(reused: readonly number[], fresh: number): Promise<void> {
    let surplus = fresh;
    try {
      const rows = await this.source.take(reused.length + fresh);
      for (const seq of reused) this.#reserved.delete(seq);
      surplus = reused.length + fresh - rows.length;
      for (const { seq } of rows) if (this.#reserved.delete(seq)) surplus++;
      this.unrecorded += rows.length;
      // Now: the campaign's next chunk begins with it, and its mark goes along with that of these.
      const unused = surplus;
      surplus = 0;
      this.#host.returnBudget(unused);
      const checkedAtMs = this.source.readAtMs;
      await prepareGroup({ batch: this, host: this.#host, context: this.#context, rows, checkedAtMs });
    } finally {
      this.#host.returnBudget(surplus);
    }
  }

  waitForRoom({ retryAfterMs: ms, waitsForDay }: HourGrant): void {
    limiterWaited(waitsForDay ? "day" : "hour");
    if (ms <= MAX_HOUR_WAIT_MS) {
      this.#pause(ms);
      return;
    }
    const { company_id, smtp_config_id } = this.campaign;
    const { roomAgainMs } = this.#context.settings;
    if (waitsForDay) this.#context.parkConfig(smtp_config_id, Math.min(ms, roomAgainMs));
    else this.#context.parkCompany(company_id, Math.min(ms, roomAgainMs));
    // Not at once: those for whom there was room are on their way.
    this.#endsWhenEmpty = true;
  }

  #pause(ms: number): void {
    this.#pausedUntil = performance.now() + ms;
    setTimeout(() => this.fill(), ms + 1).unref();
  }

  /** Rows that were taken and not handed over: back to the chunk, or to the queue of the deferred. */
  putBack(rows: readonly RecipientRow[]): void {
    if (!this.source.putBack(rows)) {
      for (const row of rows) this.record(row, QUEUED, 0);
      return;
    }
    this.unrecorded -= rows.length;
    const marked = rows.filter((row) => this.source.isMarked(row));
    for (const { seq } of marked) this.#reserved.add(seq);
    this.#host.returnBudget(rows.length - marked.length);
  }

  next(): Mail | undefined {
    const { domains } = this.#host;
    for (let next = domains.next(this.ready); next; next = domains.next(this.ready)) {
      if (performance.now() - next.checkedAtMs > MAX_CHECK_AGE_MS) {
        this.ready.unshift(next);
        this.recheck();
        return undefined;
      }
      if (this.hour.isFresh(next.token) && domains.mayGo(next)) {
        const mail = this.#made(next);
        if (mail) return mail;
        continue;
      }
      this.#giveRoom([next]);
      this.putBack([next.row]);
    }
    return undefined;
  }

  /** What they had of the company's hour and of their domains' limits. */
  #giveRoom(mails: readonly WaitingMail[]): void {
    for (const { token } of mails) void this.hour.give(token);
    this.#host.domains.give(...mails.map(({ room }) => room));
  }

  #made(waiting: WaitingMail): Mail | undefined {
    const made = preparedMail(this, waiting);
    if ("error" in made) {
      this.#giveRoom([waiting]);
      this.record(waiting.row, notRendered(made.error));
      return undefined;
    }
    this.#host.noteMailBytes(made.bytes);
    this.#handedOver.add(made.prepared);
    return made.prepared;
  }

  recheck(): void {
    const now = performance.now();
    if (this.#rechecking || !this.ready.some(({ checkedAtMs }) => now - checkedAtMs > RECHECK_AFTER_MS)) return;
    this.#rechecking = true;
    const waiting = [...this.ready];
    checkAgain(
      this.#context.reads,
      this.campaign,
      waiting.map(({ row }) => row),
    )
      .then(() => {
        for (const mail of waiting) mail.checkedAtMs = now;
        this.#removeSuppressed();
      })
      .catch((error: Error) => this.#context.reportOutage(error))
      .finally(() => {
        this.#rechecking = false;
        this.#host.wake();
      });
  }

  #removeSuppressed(): void {
    for (const mail of [...this.ready]) {
      const unsent = outcomeUnsent(mail.row, this.campaign);
      if (!unsent) continue;
      this.ready.splice(this.ready.indexOf(mail), 1);
      this.#giveRoom([mail]);
      this.record(mail.row, unsent);
    }
  }

  again(mail: Mail): void {
    this.#handedOver.delete(mail);
    if (this.state === "open") {
      const { row, token, room, checkedAtMs, endedSessions } = mail;
      this.ready.unshift({ row, mail: mail.mail, token, room, checkedAtMs, endedSessions });
    } else {
      this.#giveRoom([mail]);
      this.putBack([mail.row]);
      this.endIfDone();
    }
  }

  answered(
    mail: Mail,
    outcome: Outcome,
    delayMs: number | null,
    countsInHour: boolean,
    copies: readonly CopyOutcome[] = [],
  ): void {
    this.#handedOver.delete(mail);
    if (!countsInHour) void this.hour.give(mail.token);
    this.record(mail.row, outcome, delayMs, copies);
  }

  record(
    row: RecipientRow,
    outcome: Outcome,
    delayMs: number | null = null,
    copies: readonly CopyOutcome[] = [],
  ): void {
    this.source.settled(row);
    this.#promised++;
    this.#context.recorder.add({
      companyId: this.campaign.company_id,
      campaignId: this.campaign.campaign_id,
      mail: { campaignNo: row.campaign_no, id: row.id, email: row.email, messageId: row.message_id },
      chunk: this.chunk,
      seq: row.seq,
      attempts: row.attempts,
      copyNo: row.copy_no ?? null,
      outcome,
      delayMs: outcome.status === "queued" && !this.chunk ? (delayMs ?? 0) : delayMs,
      copies,
      by: this,
    });
    if (row.copy_no === undefined) this.#context.count(outcome.status);
  }

  recorded(n: number): void {
    this.unrecorded -= n;
    this.#promised -= n;
    this.#host.returnBudget(n);
    this.#host.recorded(n);
    this.endIfDone();
  }

  /** Gives ready mails back to the source, without their room. */
  #emptyReady(): RecipientRow[] {
    const mails = this.ready.splice(0);
    this.#giveRoom(mails);
    return mails.map(({ row }) => row);
  }

  takeBackReady(): void {
    this.#takesBackWhenPrepared = this.#preparing;
    if (this.#preparing || this.ready.length + this.#reserved.size === 0) return;
    const rows = this.#emptyReady();
    if (!this.chunk || this.state !== "open") {
      this.putBack(rows);
      return;
    }
    // They were marked last: the mark goes back behind what was handed over, and only then the budget is returned.
    const before = Math.min(...rows.map(({ seq }) => seq), ...this.#reserved) - 1;
    const mark = Math.max(before, ...[...this.#handedOver].map(({ row }) => row.seq));
    this.#preparing = true;
    void this.source.unmark(mark).then((held) => {
      this.#preparing = false;
      this.putBack(rows);
      const free = [...this.#reserved].filter((seq) => seq > mark);
      for (const seq of free) this.#reserved.delete(seq);
      this.#host.returnBudget(free.length);
      if (!held) this.leaseLost();
      this.endIfDone();
    });
  }

  end(): void {
    if (this.state !== "open") return;
    this.state = "ending";
    this.putBack(this.#emptyReady());
    this.endIfDone();
  }

  leaseLost(): void {
    this.#leaseIsLost = true;
    this.end();
  }

  /** Called after each step that may have been the last, and by a timer: a forgotten batch would hold its lease for ever. */
  endIfDone(): void {
    if (this.state === "over" || this.#preparing || this.unrecorded + this.handedOver + this.ready.length > 0) return;
    if (this.state === "open" && this.#endsWhenEmpty) {
      this.end();
      return;
    }
    if (this.state === "open" && !this.source.exhausted) return;
    const complete = this.state === "open";
    this.state = "over";
    this.#host.removeBatch(this);
    void this.#context
      .batchOver(this, complete, this.#leaseIsLost)
      .finally(() => this.#host.returnBudget(this.#reserved.size));
  }
}
