/** Where a lane's recipients come from: the rows of a leased chunk, or deferred ones claimed one by one. */

import { performance } from "node:perf_hooks";
import { sameCompany } from "../../../models/database/same-company.ts";
import { CLAIM_DUE, OF_SUBSCRIBER, RECIPIENT } from "../claim/claim-statements.ts";
import type { EngineContext } from "../engine/context.ts";
import type { LeasedChunk } from "./recorder.ts";
import type { ClaimableCampaign, RecipientRow } from "./rows.ts";

export interface RecipientSource {
  readonly chunk: LeasedChunk | null;
  readonly exhausted: boolean;
  /** About how many it has. */
  readonly left: number;
  take(n: number): Promise<RecipientRow[]>;
  /** False: they cannot be taken again from here, their state must be written. */
  putBack(rows: readonly RecipientRow[]): boolean;
  /** Recipients up to `seq` may be handed over from now on. False: the lease is not ours any more. */
  mark(seq: number, urgent: boolean): Promise<boolean>;
  unmark(seq: number): Promise<boolean>;
  stillOurs(row: RecipientRow): boolean;
  /** Its result is on its way. */
  settled(row: RecipientRow): void;
  renew(): Promise<boolean>;
}

/** The clock of this process may be a little late: the last tenth of a lease is not used. */
const SAFE_PART = 0.9;
const READ_AHEAD = 200;
/** Of values; a campaign's receivers may bring a few bytes each, or 16 MB, and hundreds of lanes read ahead. */
const BYTES_AHEAD = 256 * 1024;
/** Suppressions are checked when a row is read: one that waited longer than this is read again. */
const STALE_MS = 2_000;

/** At most $6, and none behind so many bytes. `found`: how many there would be without that. */
export const READ = `
  select * from (
    select r.*, count(*) over ()::int as found,
      sum(coalesce(octet_length(variables), 0) + coalesce(octet_length(attributes), 0))
        over (order by seq rows between unbounded preceding and 1 preceding) as bytes_before
    from (
      select ${RECIPIENT} from sent_emails e
      ${OF_SUBSCRIBER}
      where e.campaign_id = $1 and ${sameCompany("e.company_id", "$2")} and e.seq > $3 and e.seq <= $5
        and e.status = 0 and e.next_attempt_at is null
      order by e.seq limit $6) r) r
  where coalesce(bytes_before, 0) < ${BYTES_AHEAD}
  order by seq`;

const bytesOf = ({ variables, attributes }: RecipientRow) => (variables?.length ?? 0) + (attributes?.length ?? 0);

/** Only those that are at hand: others of the chunk may be on their way, and still look queued. */
export const READ_AGAIN = `
  select ${RECIPIENT} from sent_emails e
  ${OF_SUBSCRIBER}
  where e.campaign_id = $1 and ${sameCompany("e.company_id", "$2")} and e.seq = any ($3)
    and e.status = 0 and e.next_attempt_at is null
  order by e.seq`;

export class ChunkSource implements RecipientSource {
  readonly chunk: LeasedChunk;
  exhausted = false;
  #tools: EngineContext;
  #turn: ClaimableCampaign;
  #rows: RecipientRow[] = [];
  #readAt = 0;
  #atOnce = READ_AHEAD;
  #readTo: number;
  #reading: Promise<void> | undefined;

  constructor(tools: EngineContext, turn: ClaimableCampaign, chunk: LeasedChunk) {
    this.#tools = tools;
    this.#turn = turn;
    this.chunk = chunk;
    this.#readTo = chunk.lo - 1;
    // It is there when its turn comes. What fails here is met again, and told, when rows are taken.
    this.#read().catch(() => {});
  }

  get left(): number {
    return this.#rows.length + Math.max(0, this.chunk.hi - this.#readTo);
  }

  #read(): Promise<void> {
    this.#reading ??= this.#readMore().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readMore(): Promise<void> {
    const { campaign_id, company_id, is_transactional } = this.#turn;
    const asked = this.#atOnce;
    const values = [campaign_id, company_id, this.#readTo, is_transactional, this.chunk.hi, asked];
    const rows = await this.#tools.reads.run<RecipientRow & { found: number }>("recipients", READ, values);
    if (this.#rows.length === 0) this.#readAt = performance.now();
    this.#rows.push(...rows);
    const found = rows[0]?.found ?? 0;
    this.#readTo = rows.length === found && found < asked ? this.chunk.hi : rows.at(-1)!.seq;
    // PostgreSQL need not unpack a hundred large ones to leave them out.
    this.#atOnce = rows.length === found ? Math.min(READ_AHEAD, 2 * asked) : Math.min(READ_AHEAD, 2 * rows.length);
  }

  /** The next are read before these are through. */
  get #few(): boolean {
    if (this.#readTo >= this.chunk.hi || this.#rows.length >= READ_AHEAD / 2) return false;
    let bytes = 0;
    for (const row of this.#rows) bytes += bytesOf(row);
    return bytes < BYTES_AHEAD / 2;
  }

  async #readAgain(): Promise<void> {
    const { campaign_id, company_id, is_transactional } = this.#turn;
    const held = [...this.#rows];
    this.#readAt = performance.now();
    const values = [campaign_id, company_id, held.map(({ seq }) => seq), is_transactional];
    const fresh = await this.#tools.reads.run<RecipientRow>("recipients-again", READ_AGAIN, values);
    // What was put back meanwhile comes on top.
    this.#rows = [...fresh, ...this.#rows.filter((row) => !held.includes(row))].sort((a, b) => a.seq - b.seq);
  }

  async take(n: number): Promise<RecipientRow[]> {
    if (this.#rows.length < n) await this.#reading;
    if (this.#rows.length > 0 && performance.now() - this.#readAt > STALE_MS) await this.#readAgain();
    if (this.#rows.length === 0 && this.#readTo < this.chunk.hi) await this.#read();
    const rows = this.#rows.splice(0, n);
    if (this.#few) this.#read().catch(() => {});
    this.exhausted = this.#rows.length === 0 && this.#readTo >= this.chunk.hi;
    return rows;
  }

  putBack(rows: readonly RecipientRow[]): boolean {
    this.#rows = [...rows, ...this.#rows].sort((a, b) => a.seq - b.seq);
    this.exhausted = false;
    return true;
  }

  mark(seq: number, urgent: boolean): Promise<boolean> {
    return this.#tools.recorder.mark(this.chunk, Math.max(seq, this.chunk.markedTo), urgent);
  }

  unmark(seq: number): Promise<boolean> {
    return this.#tools.recorder.mark(this.chunk, seq);
  }

  settled(): void {}

  stillOurs(): boolean {
    return performance.now() < this.chunk.validFrom + this.#tools.settings.leaseMs * SAFE_PART;
  }

  async renew(): Promise<boolean> {
    const age = performance.now() - this.chunk.validFrom;
    return age < this.#tools.settings.leaseMs / 3 || this.#tools.recorder.mark(this.chunk);
  }
}

export const RENEW = `
  update sent_emails e set next_attempt_at = now() + $5 * interval '1 millisecond'
  from unnest($3::int[], $4::int[]) r (seq, attempts)
  where e.campaign_id = $1 and ${sameCompany("e.company_id", "$2")} and e.seq = r.seq and e.status = 1 and e.attempts = r.attempts
  returning e.seq`;

export class RetrySource implements RecipientSource {
  readonly chunk = null;
  exhausted = false;
  #tools: EngineContext;
  #turn: ClaimableCampaign;
  /** Claimed and not yet recorded, with the start of its lease. */
  #claimed = new Map<RecipientRow, number>();

  constructor(tools: EngineContext, turn: ClaimableCampaign) {
    this.#tools = tools;
    this.#turn = turn;
  }

  get left(): number {
    return this.exhausted ? 0 : 1;
  }

  async take(n: number): Promise<RecipientRow[]> {
    const { campaign_id, company_id, is_transactional } = this.#turn;
    const at = performance.now();
    const values = [campaign_id, company_id, n, is_transactional, this.#tools.settings.leaseMs];
    const rows = await this.#tools.reads.run<RecipientRow>("claim-due", CLAIM_DUE, values);
    for (const row of rows) this.#claimed.set(row, at);
    this.exhausted = rows.length < n;
    return rows;
  }

  putBack(): boolean {
    return false;
  }

  async mark(): Promise<boolean> {
    return true;
  }

  async unmark(): Promise<boolean> {
    return true;
  }

  stillOurs(row: RecipientRow): boolean {
    const from = this.#claimed.get(row);
    return from !== undefined && performance.now() < from + this.#tools.settings.leaseMs * SAFE_PART;
  }

  settled(row: RecipientRow): void {
    this.#claimed.delete(row);
  }

  /** One whose lease ran out and was taken from us is not renewed: it is not handed over any more. */
  async renew(): Promise<boolean> {
    const now = performance.now();
    const { leaseMs } = this.#tools.settings;
    const old = [...this.#claimed].flatMap(([row, at]) => (now - at > leaseMs / 3 ? [row] : []));
    if (old.length === 0) return true;
    const { campaign_id, company_id } = this.#turn;
    const seqs = old.map(({ seq }) => seq);
    const attempts = old.map((row) => row.attempts);
    const values = [campaign_id, company_id, seqs, attempts, leaseMs];
    const ours = await this.#tools.reads.run<{ seq: number }>("renew-due", RENEW, values);
    const renewed = new Set(ours.map(({ seq }) => seq));
    for (const row of old) if (renewed.has(row.seq) && this.#claimed.has(row)) this.#claimed.set(row, now);
    return true;
  }
}
