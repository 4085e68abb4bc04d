/** Work that goes in pieces as it comes, mails and webhooks: who has some asks how long its next piece has to wait. */
import { performance } from "node:perf_hooks";
import type { Owner } from "../turns.ts";
import { type Circumstances, gaveWay, mustGiveWay } from "./circumstances.ts";

/** When a piece began that long ago, it is of no account for the next any more. */
const FORGET_PIECE_MS = 1_000;

interface Piece {
  beganMs: number;
  /** Since when the next one rests. */
  restsFromMs: number | undefined;
}

/** Work in pieces, each of which rests before the next. */
abstract class RestingPieces<P extends Piece> {
  readonly #work: string;
  protected readonly circumstances: Circumstances;
  /** By company, the latest last. */
  protected readonly begun = new Map<Owner, P>();

  constructor(work: string, circumstances: Circumstances) {
    this.#work = work;
    this.circumstances = circumstances;
  }

  protected abstract readonly maxRestMs: number;
  /** The piece is not over: more may go with it. */
  protected abstract goesOn(piece: P): boolean;
  protected abstract restLeftMs(piece: P): number;
  protected abstract next(before: P | undefined): P;

  givesWay(companyId: Owner): boolean {
    return mustGiveWay(this.circumstances, companyId);
  }

  /** For so many milliseconds the next has to wait; 0: it may begin now. May be asked more often than that. */
  restMs(companyId: Owner): number {
    const known = this.begun.get(companyId);
    if (!this.givesWay(companyId)) {
      this.begun.delete(companyId);
      this.#rested(known);
      return 0;
    }
    if (known && this.goesOn(known)) return 0;
    const restMs = known ? this.restLeftMs(known) : 0;
    if (restMs >= 1) return restMs;
    this.#rested(known);
    this.#begins(companyId, this.next(known));
    return 0;
  }

  #rested(piece: P | undefined): void {
    if (piece?.restsFromMs === undefined) return;
    // Whoever asked may have had nothing more to do, and ask again after hours.
    const restedMs = Math.min(performance.now() - piece.restsFromMs, this.maxRestMs);
    gaveWay.inc({ work: this.#work }, restedMs / 1_000);
  }

  #begins(companyId: Owner, piece: P): void {
    this.begun.delete(companyId);
    this.begun.set(companyId, piece);
    // Those of ten thousand companies do not stay.
    for (const [oldest, { beganMs }] of this.begun) {
      if (piece.beganMs - beganMs < FORGET_PIECE_MS) break;
      this.begun.delete(oldest);
    }
  }
}

/** Some 20 ms of CPU, PostgreSQL's share among them: who asks meanwhile waits no longer. Fewer at a time cost more each. */
const MAILS_AT_ONCE = 50;
const REST_OF_MAILS_MS = 10;

interface Mails extends Piece {
  /** Below zero: that much less of the next one. */
  left: number;
}

/** Newsletters: whatever campaigns and configurations of a company they are of, they go in one piece and rest together. */
export class RestingMails extends RestingPieces<Mails> {
  constructor(circumstances: Circumstances) {
    super("mail", circumstances);
  }

  /** How many mails may begin before the next rest. */
  left(companyId: Owner): number {
    return this.begun.get(companyId)?.left ?? Number.POSITIVE_INFINITY;
  }

  /** A group of so many mails begins. */
  began(companyId: Owner, mails: number): void {
    const piece = this.begun.get(companyId);
    if (!piece) return;
    piece.left -= mails;
    if (piece.left <= 0) piece.restsFromMs ??= performance.now();
  }

  protected get maxRestMs(): number {
    return REST_OF_MAILS_MS * this.circumstances.shortage.factor;
  }

  protected goesOn({ left }: Mails): boolean {
    return left > 0;
  }

  protected restLeftMs({ restsFromMs }: Mails): number {
    return restsFromMs! + this.maxRestMs - performance.now();
  }

  protected next(before: Mails | undefined): Mails {
    const left = Math.max(1, MAILS_AT_ONCE + (before?.left ?? 0));
    return { beganMs: performance.now(), restsFromMs: undefined, left };
  }
}
