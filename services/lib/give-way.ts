/**
 * Work in the background gives way to other companies' requests: on few cores an export, an import, recipients that are
 * written and mail that leaves take all of them. Requests of many at once have an order of their own
 * (services/gateway/access/fair-places.ts).
 *
 * | CPU      | other companies                          | the steps of a company's work                             |
 * |----------|------------------------------------------|-----------------------------------------------------------|
 * | is left  |                                          | go at once                                                |
 * | is short | asked for nothing for 250 ms             | go at once                                                |
 * | is short | asked for something within that          | take a fifth of the rows, go one after the other, and rest as long as each took |
 * | is short | the same, and it is newsletters          | rest for 25 ms after each 150 mails                       |
 * | is short | the same, and it is webhooks or hits     | go when the event loop was idle for half as long as it was in use, after 50 ms at the latest |
 *
 * Where that does not help, the rests of steps and newsletters get longer: twice as long after each quarter of a second in which CPU
 * was short, up to eight times; each in which it was not takes one off. So they settle where CPU is just left.
 *
 * Webhooks and hits (opens and clicks, of all companies together) that rested go in larger groups, each of which costs less.
 *
 * Requests that write thousands of rows (list changes) or begin a newsletter are such steps, too, and parts of uploaded files.
 *
 * Transactional mail never rests. What is short matters more than the rest: beside steps of 100 ms of PostgreSQL the others' slowest
 * requests took as long as without any rest. Once short, CPU counts as short for ten seconds more, because rests make it look as
 * if there were enough. An import's sort and its look for who is new are one statement each, and do not rest.
 *
 * Calls of companies are noted where an action begins (mixins/database.middleware.ts), in each process those that it serves: in a
 * cluster a node gives way to whom it serves itself, and to nobody where it only sends.
 *
 * Measured on two cores that clients and PostgreSQL share, p99 of a company that asks 25 times a second, as a multiple of that in
 * silence (19-24 ms), with `test/bench noisy`. With rests as long as each step and with those that get longer: sends to everybody 4.1
 * to 12.8 and 1.9 to 2.3 (2,200 and 625 mails per second, 28 and 75 answers), newsletters that are stopped 10.1 and 1.1 to 2.0.
 * Without any rest and with them: export of subscribers 5.7 and 2.8, of a campaign 4.3 and 3.4, import of 20,000 3.1 and 2.3;
 * exports get half of what they got. Webhooks and hits, without and with their
 * rests: beside newsletters, receipts and imports at full speed whose mails are opened (`test/bench companies`) the slowest 1 % of other
 * companies' receipts took 1,019 and 220 ms, of their newsletters 1,517 and 535.
 */
import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { cpuShortage } from "./cpu-shortage.ts";
import { unavailable } from "./errors.ts";
import { counter } from "./metrics.ts";
import { type Owner, type Release, Turns } from "./turns.ts";

/** A company that asks for something ten times a second is at work all the time. */
const AT_WORK_MS = 250;
const LOOK_EVERY_MS = 250;
/** Looks further apart say what CPU was used for before there was anything to rest. */
const FORGET_AFTER_MS = 1_000;
const SHORT_FOR_MS = 10_000;
/** So soon it is noticed that nobody else asks any more. */
const LOOK_WHILE_RESTING_MS = 50;
/**
 * After a statement of many seconds nobody has to wait for as many more; and an import rests within its transaction, which PostgreSQL
 * ends after four seconds without a statement (models/database/session-settings.ts).
 */
const MAX_REST_MS = 1_000;
/** Of newsletters 750 mails per second leave even then: whoever keeps CPU short may be somebody who never ends. */
const MAX_FACTOR = 8;
/** Some 20 ms of PostgreSQL instead of 100. */
const SMALLER = 5;

const gaveWay = counter(
  "flockmail_gave_way_seconds_total",
  "Time for which work in the background rested, because CPU was short and other companies were at work.",
  ["work"],
);

/** The two companies that asked last, and when: whoever else is at work, one of them is not the one that asks. */
let [last, lastAtMs] = [undefined as Owner, Number.NEGATIVE_INFINITY];
let otherAtMs = Number.NEGATIVE_INFINITY;

/** Some company has asked for something. Called for each action: 0.1 µs. */
export function noteCall(companyId: Owner): void {
  if (companyId === undefined) return;
  if (companyId !== last) {
    otherAtMs = lastAtMs;
    last = companyId;
  }
  lastAtMs = performance.now();
}

/** Whether another company than this one asked a moment ago. */
export const othersAreAtWork = (companyId: Owner): boolean =>
  performance.now() - (companyId === last ? otherAtMs : lastAtMs) < AT_WORK_MS;

/** Whether CPU is short, and was a moment ago; and for how many times as long that wants work to rest. */
export class Shortage {
  readonly #isShort: () => boolean;
  #lookedMs = Number.NEGATIVE_INFINITY;
  #untilMs = Number.NEGATIVE_INFINITY;
  #factor = 1;

  /** `isShort`: whether CPU was short since it was asked before. */
  constructor(isShort: () => boolean) {
    this.#isShort = isShort;
  }

  get factor(): number {
    return this.#factor;
  }

  lasts(): boolean {
    const nowMs = performance.now();
    const passedMs = nowMs - this.#lookedMs;
    if (passedMs >= LOOK_EVERY_MS) {
      this.#lookedMs = nowMs;
      this.#look(nowMs, this.#isShort() && passedMs < FORGET_AFTER_MS);
    }
    return nowMs < this.#untilMs;
  }

  #look(nowMs: number, isShort: boolean): void {
    const wasShort = nowMs < this.#untilMs;
    if (isShort) this.#untilMs = nowMs + SHORT_FOR_MS;
    if (!wasShort) this.#factor = 1;
    else this.#factor = isShort ? Math.min(MAX_FACTOR, 2 * this.#factor) : Math.max(1, this.#factor - 1);
  }
}

const ofThisMachine = new Shortage(cpuShortage(FORGET_AFTER_MS));

interface Circumstances {
  shortage: Pick<Shortage, "lasts" | "factor">;
  othersAreAtWork: (companyId: Owner) => boolean;
}

/** Where nobody is to be given way to, both cost nothing. The shortage is asked first: it has to be looked at regularly. */
const mustGiveWay = ({ shortage, othersAreAtWork: areThere }: Circumstances, companyId: Owner): boolean =>
  shortage.lasts() && areThere(companyId);

/**
 * Steps in PostgreSQL, or of both: each rests as long as it took, or longer where CPU stays short. Those of a company go one after the
 * other then: an import, a slice and a save side by side have all of two cores between two statements of the others.
 */
export class RestingSteps {
  readonly #work: string;
  readonly #circumstances: Circumstances;
  /** When a company's next step may begin, by the monotonic clock. */
  readonly #nextMs = new Map<Owner, number>();
  readonly #places = new Turns({ inAll: Number.POSITIVE_INFINITY, perOwner: 1, refusal: () => unavailable() });

  constructor(work: string, circumstances: Circumstances) {
    this.#work = work;
    this.#circumstances = circumstances;
  }

  /**
   * How many rows a step should take, of as many as it usually does: what is short takes the others' core for a shorter time, and
   * they have it for as long afterwards.
   */
  rows(companyId: Owner, usual: number): number {
    return mustGiveWay(this.#circumstances, companyId) ? Math.ceil(usual / SMALLER) : usual;
  }

  /** Runs a step after the company's last one and what that has to rest. */
  run<T>(companyId: Owner, step: () => Promise<T>): Promise<T> {
    return this.inTurn(companyId, () => this.timed(companyId, step));
  }

  /** For work that waits for something else (a connection, say) before its step, which is `timed`. */
  async inTurn<T>(companyId: Owner, work: () => Promise<T>): Promise<T> {
    const leave = await this.#ownPlace(companyId);
    try {
      return await work();
    } finally {
      leave?.();
    }
  }

  /**
   * Rests first, so that no place is held meanwhile: those that wait for one would all go at once after a rest of a second. Who gets a
   * place after another step of the company rests once more, up to a second in all.
   */
  async #ownPlace(companyId: Owner): Promise<Release | undefined> {
    const untilMs = performance.now() + MAX_REST_MS;
    for (;;) {
      await this.rest(companyId);
      if (!mustGiveWay(this.#circumstances, companyId)) return undefined;
      // Not for ever: a step may wait for a lock that the company's import holds, whose next step waits for that one here.
      const leave = await this.#places.take(companyId, MAX_REST_MS).catch(() => undefined);
      const nowMs = performance.now();
      if (!leave || nowMs >= untilMs || (this.#nextMs.get(companyId) ?? 0) <= nowMs) return leave;
      leave();
    }
  }

  /** For a step of `inTurn`, or one that does not rest itself: the next one does. */
  async timed<T>(companyId: Owner, step: () => Promise<T>): Promise<T> {
    const beganMs = performance.now();
    try {
      return await step();
    } finally {
      this.#took(companyId, performance.now() - beganMs);
    }
  }

  /** For steps that are no calls: what is returned is called between two of them, and rests for as long as it is since it returned. */
  pace(companyId: Owner): () => Promise<void> {
    let sinceMs = performance.now();
    return async () => {
      this.#took(companyId, performance.now() - sinceMs);
      await this.rest(companyId);
      sinceMs = performance.now();
    };
  }

  #took(companyId: Owner, ms: number): void {
    if (!mustGiveWay(this.#circumstances, companyId)) return;
    const nowMs = performance.now();
    const fromMs = Math.max(nowMs, this.#nextMs.get(companyId) ?? 0);
    const restMs = ms * this.#circumstances.shortage.factor;
    this.#nextMs.set(companyId, Math.min(fromMs + restMs, nowMs + MAX_REST_MS));
  }

  /** Ends early where nobody else asks any more. */
  async rest(companyId: Owner): Promise<void> {
    const beganMs = performance.now();
    // Whatever else of the company ends meanwhile.
    const untilMs = Math.min(this.#nextMs.get(companyId) ?? 0, beganMs + MAX_REST_MS);
    for (;;) {
      const leftMs = untilMs - performance.now();
      if (leftMs <= 0 || !this.#circumstances.othersAreAtWork(companyId)) break;
      await sleep(Math.min(leftMs, LOOK_WHILE_RESTING_MS));
    }
    if ((this.#nextMs.get(companyId) ?? 0) <= performance.now()) this.#nextMs.delete(companyId);
    const restedMs = performance.now() - beganMs;
    if (restedMs > 1) gaveWay.inc({ work: this.#work }, restedMs / 1_000);
  }
}

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

  /** For so many milliseconds the next has to wait; 0: it may begin now. May be asked more often than that. */
  restMs(companyId: Owner): number {
    const known = this.begun.get(companyId);
    if (!mustGiveWay(this.circumstances, companyId)) {
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

/** Of mails 150 are some 25 ms of CPU, PostgreSQL's share among them. Fewer at a time cost more each. */
const MAILS_AT_ONCE = 150;
const REST_OF_MAILS_MS = 25;

interface Mails extends Piece {
  /** Below zero: that much less of the next one. */
  left: number;
}

/** Newsletters: whatever campaigns and configurations of a company they are of, they go in one piece and rest together. */
export class RestingMails extends RestingPieces<Mails> {
  constructor(circumstances: Circumstances) {
    super("mail", circumstances);
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

/** For each millisecond in which the event loop was in use: two thirds of the time are. */
const REST_OF_LOOP = 0.5;
/** No piece waits for longer in all: where requests alone keep the loop in use, webhooks still leave. */
const MAX_REST_OF_LOOP_MS = 50;

interface LoopTimes {
  activeMs: number;
  idleMs: number;
}

interface LoopPiece extends Piece {
  times: LoopTimes;
}

const loopTimes = (): LoopTimes => {
  const { active, idle } = performance.eventLoopUtilization();
  return { activeMs: active, idleMs: idle };
};

/** Work of the event loop in small pieces: before the next the loop must have been idle for long enough. */
export class RestingLoop extends RestingPieces<LoopPiece> {
  protected readonly maxRestMs = MAX_REST_OF_LOOP_MS;
  readonly #times: () => LoopTimes;

  constructor(work: string, circumstances: Circumstances, times = loopTimes) {
    super(work, circumstances);
    this.#times = times;
  }

  protected goesOn(): boolean {
    return false;
  }

  protected restLeftMs(piece: LoopPiece): number {
    const { activeMs, idleMs } = this.#times();
    const nowMs = performance.now();
    // It rests from when it is asked for first.
    piece.restsFromMs ??= nowMs;
    const owedMs = (activeMs - piece.times.activeMs) * REST_OF_LOOP - (idleMs - piece.times.idleMs);
    return Math.min(owedMs, piece.restsFromMs + MAX_REST_OF_LOOP_MS - nowMs);
  }

  protected next(): LoopPiece {
    return { beganMs: performance.now(), restsFromMs: undefined, times: this.#times() };
  }
}

const here: Circumstances = { shortage: ofThisMachine, othersAreAtWork };
/** Exports, imports, expansion, receivers that are saved, the index of searches. */
export const bulkSteps = new RestingSteps("bulk", here);
export const mailSteps = new RestingMails(here);
/** Groups of a company's webhooks. */
export const webhookSteps = new RestingLoop("webhooks", here);
/** Opens and clicks: readers' requests name no company, so that all companies are others. */
export const hitSteps = new RestingLoop("hits", here);
