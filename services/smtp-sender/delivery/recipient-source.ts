/** Reads a batch's recipients: rows of a leased chunk, or due retries and copies claimed one by one. */
import { performance } from "node:perf_hooks";
import { withIds } from "../../../models/statements/mail-key.ts";
import type { EngineContext } from "../engine/context.ts";
import {
  BYTES_AHEAD,
  CLAIM_DUE,
  CLAIM_DUE_COPIES,
  READ,
  READ_AGAIN,
  RENEW,
  RENEW_COPIES,
} from "./recipient-statements.ts";
import type { LeasedChunk } from "./recorded-result.ts";
import type { BatchKind, ClaimableCampaign, RecipientRow } from "./rows.ts";

/** Source of a batch's recipients. */
export interface RecipientSource {
  readonly kind: BatchKind;
  readonly chunk: LeasedChunk | null;
  readonly exhausted: boolean;
  /** Estimate of the remaining recipients. */
  readonly left: number;
  /** Read time of the oldest row taken last. */
  readonly readAtMs: number;
  take(n: number): Promise<RecipientRow[]>;
  /** False: rows cannot be taken from here again, so their state must be written. */
  putBack(rows: readonly RecipientRow[]): boolean;
  /** Allows recipients up to `seq` to be handed over. False: the lease is lost. */
  mark(seq: number, urgent: boolean): Promise<boolean>;
  unmark(seq: number): Promise<boolean>;
  /** True if the mark in the database may cover the row: a crash now would put it in doubt. */
  isMarked(row: RecipientRow): boolean;
  leaseIsOurs(row: RecipientRow): boolean;
  /** The recipient was claimed individually, with this number of tries, and has no result yet. */
  holds(seq: number, attempts: number): boolean;
  /** Called when the row's result is being written to the database. */
  settled(row: RecipientRow): void;
  renew(): Promise<boolean>;
}

/** Safety margin for clock differences: the last tenth of a lease is not used. */
const USABLE_PART = 0.9;
const READ_AHEAD = 200;
/** Suppressions are checked when a row is read; a row that waited longer than this is read again. */
const STALE_MS = 2_000;

const bytesOf = ({ variables, attributes }: RecipientRow) => (variables?.length ?? 0) + (attributes?.length ?? 0);

/** `bytes_before`: bytes of the values of all earlier rows. */
type ReadRow = RecipientRow & { bytes_before: number | null };

/** More rows may follow, left out because of the size of their values. */
function endsEarly(rows: readonly ReadRow[]): boolean {
  const last = rows.at(-1);
  if (!last) return false;
  const octets = Buffer.byteLength(last.variables ?? "") + Buffer.byteLength(last.attributes ?? "");
  return (last.bytes_before ?? 0) + octets >= BYTES_AHEAD;
}

export class ChunkSource implements RecipientSource {
  readonly kind = "chunk";
  readonly chunk: LeasedChunk;
  exhausted = false;
  #context: EngineContext;
  #campaign: ClaimableCampaign;
  #rows: RecipientRow[] = [];
  #readAt = 0;
  readAtMs = 0;
  #readSize = READ_AHEAD;
  #readTo: number;
  #reading: Promise<void> | undefined;

  constructor(context: EngineContext, campaign: ClaimableCampaign, chunk: LeasedChunk) {
    this.#context = context;
    this.#campaign = campaign;
    this.chunk = chunk;
    this.#readTo = chunk.lo - 1;
    // Reads ahead of the first use. An error here occurs again, and is reported, when rows are taken.
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
    const { campaign_id, company_id, is_transactional } = this.#campaign;
    const asked = this.#readSize;
    const values = [campaign_id, company_id, this.#readTo, is_transactional, this.chunk.hi, asked];
    const at = performance.now();
    const rows = await withIds(await this.#context.reads.run<ReadRow>("recipients", READ, values));
    if (this.#rows.length === 0) this.#readAt = at;
    this.#rows.push(...rows);
    const early = rows.length < asked && endsEarly(rows);
    this.#readTo = rows.length < asked && !early ? this.chunk.hi : rows.at(-1)!.seq;
    // Large values: PostgreSQL should not unpack a hundred of them only to leave them out.
    this.#readSize = Math.min(READ_AHEAD, 2 * (early ? rows.length : asked));
  }

  /** Time to read the next rows, before these are used up. */
  get #runsLow(): boolean {
    if (this.#readTo >= this.chunk.hi || this.#rows.length >= READ_AHEAD / 2) return false;
    let bytes = 0;
    for (const row of this.#rows) bytes += bytesOf(row);
    return bytes < BYTES_AHEAD / 2;
  }

  async #readAgain(): Promise<void> {
    const { campaign_id, company_id, is_transactional } = this.#campaign;
    const rows = [...this.#rows];
    this.#readAt = performance.now();
    const values = [campaign_id, company_id, rows.map(({ seq }) => seq), is_transactional];
    const fresh = await withIds(await this.#context.reads.run<RecipientRow>("recipients-again", READ_AGAIN, values));
    // Adds rows that were put back in the meantime.
    this.#rows = [...fresh, ...this.#rows.filter((row) => !rows.includes(row))].sort((a, b) => a.seq - b.seq);
  }

  async take(n: number): Promise<RecipientRow[]> {
    if (this.#rows.length < n) await this.#reading;
    if (this.#rows.length > 0 && performance.now() - this.#readAt > STALE_MS) await this.#readAgain();
    if (this.#rows.length === 0 && this.#readTo < this.chunk.hi) await this.#read();
    const rows = this.#rows.splice(0, n);
    this.readAtMs = this.#readAt;
    if (this.#runsLow) this.#read().catch(() => {});
    this.exhausted = this.#rows.length === 0 && this.#readTo >= this.chunk.hi;
    return rows;
  }

  putBack(rows: readonly RecipientRow[]): boolean {
    this.#rows = [...rows, ...this.#rows].sort((a, b) => a.seq - b.seq);
    // The rows may be stale.
    this.#readAt = Number.NEGATIVE_INFINITY;
    this.exhausted = false;
    return true;
  }

  mark(seq: number, urgent: boolean): Promise<boolean> {
    return this.#context.recorder.mark(this.chunk, Math.max(seq, this.chunk.markedTo), urgent);
  }

  unmark(seq: number): Promise<boolean> {
    return this.#context.recorder.mark(this.chunk, seq);
  }

  isMarked({ seq }: RecipientRow): boolean {
    return seq <= this.chunk.markedTo;
  }

  settled(): void {}

  holds(): boolean {
    return false;
  }

  leaseIsOurs(): boolean {
    return performance.now() < this.chunk.validFrom + this.#context.settings.leaseMs * USABLE_PART;
  }

  async renew(): Promise<boolean> {
    const age = performance.now() - this.chunk.validFrom;
    return age < this.#context.settings.leaseMs / 3 || this.#context.recorder.mark(this.chunk);
  }
}

const DUE = {
  retries: { claim: CLAIM_DUE, renew: RENEW },
  copies: { claim: CLAIM_DUE_COPIES, renew: RENEW_COPIES },
} as const;

type CopyKey = Pick<RecipientRow, "seq" | "copy_no">;
const keyOf = ({ seq, copy_no }: CopyKey) => `${seq} ${copy_no ?? ""}`;

/** Deferred recipients that are due, or deferred copies. */
export class DueSource implements RecipientSource {
  readonly kind: "retries" | "copies";
  readonly chunk = null;
  exhausted = false;
  readAtMs = 0;
  #context: EngineContext;
  #campaign: ClaimableCampaign;
  /** Claimed, unrecorded recipients with the start of each row's lease. */
  #claimed = new Map<RecipientRow, number>();

  constructor(context: EngineContext, campaign: ClaimableCampaign, kind: "retries" | "copies") {
    this.kind = kind;
    this.#context = context;
    this.#campaign = campaign;
  }

  get left(): number {
    return this.exhausted ? 0 : 1;
  }

  async take(n: number): Promise<RecipientRow[]> {
    const { campaign_id, company_id, is_transactional } = this.#campaign;
    const at = performance.now();
    const { leaseMs } = this.#context.settings;
    const timeline = this.#context.history.timeline;
    // The database history has changed: this batch ends without claiming.
    if (timeline === undefined) {
      this.exhausted = true;
      return [];
    }
    const more = this.kind === "copies" ? [leaseMs, timeline] : [is_transactional, leaseMs, timeline];
    const values = [campaign_id, company_id, n, ...more];
    const rows = await withIds(
      await this.#context.reads.run<RecipientRow>(`claim-due-${this.kind}`, DUE[this.kind].claim, values),
    );
    for (const row of rows) this.#claimed.set(row, at);
    this.readAtMs = at;
    this.exhausted = rows.length < n;
    return rows;
  }

  /** The claim is stored in the row, so releasing it needs a write, too. */
  putBack(): boolean {
    return false;
  }

  async mark(): Promise<boolean> {
    return true;
  }

  async unmark(): Promise<boolean> {
    return true;
  }

  isMarked(): boolean {
    return true;
  }

  leaseIsOurs(row: RecipientRow): boolean {
    const from = this.#claimed.get(row);
    return from !== undefined && performance.now() < from + this.#context.settings.leaseMs * USABLE_PART;
  }

  settled(row: RecipientRow): void {
    this.#claimed.delete(row);
  }

  holds(seq: number, attempts: number): boolean {
    for (const row of this.#claimed.keys()) {
      if (row.seq === seq && row.attempts === attempts && row.copy_no === undefined) return true;
    }
    return false;
  }

  /** A row whose lease expired and was taken over is not renewed and therefore not handed over. */
  async renew(): Promise<boolean> {
    const now = performance.now();
    const { leaseMs } = this.#context.settings;
    const old = [...this.#claimed].flatMap(([row, at]) => (now - at > leaseMs / 3 ? [row] : []));
    if (old.length === 0) return true;
    const { campaign_id, company_id } = this.#campaign;
    const seqs = old.map(({ seq }) => seq);
    const attempts = old.map((row) => row.attempts);
    const values: unknown[] = [campaign_id, company_id, seqs, attempts, leaseMs];
    if (this.kind === "copies") values.push(old.map(({ copy_no }) => copy_no));
    const { renew } = DUE[this.kind];
    const ours = await this.#context.reads.run<CopyKey>(`renew-due-${this.kind}`, renew, values);
    const renewed = new Set(ours.map(keyOf));
    for (const row of old) if (renewed.has(keyOf(row)) && this.#claimed.has(row)) this.#claimed.set(row, now);
    return true;
  }
}
