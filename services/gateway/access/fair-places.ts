/**
 * Who asks for much waits for itself, while the machine is short of CPU and others are at work: of a heavy owner (a company,
 * a person, a company's public form) few requests of a kind are under way at once, the rest wait before their bodies are
 * read. What bounds places elsewhere (connections, worker threads) leaves all cores to a company that has a few of each.
 *
 * | CPU      | others                         | who                               | of each kind at once                          |
 * |----------|--------------------------------|-----------------------------------|-----------------------------------------------|
 * | is left  |                                | everybody                         | all                                           |
 * | is short | asked for nothing for 5 s      | everybody                         | all                                           |
 * | is short | asked for nothing for 2 to 5 s | who asks for several at once      | 8, then less, two at least                    |
 * | is short | are at work                    | owners with no more than the mean | all                                           |
 * | is short | are at work                    | owners with more                  | 8, then less, then one for a part of the time |
 *
 * The bound is quartered while CPU is short, and grows while it is not, so that it settles where the machine is used and not
 * overrun. It does so for a company that is alone, too, which it does not bind: whoever comes then finds it as it should be.
 * One request at a time can be too many: a search is a core of PostgreSQL's, on two cores half of all. Below one, a place stays
 * empty after a request that was the only one, at last for seven times as long as that took. By kind: a request that takes a minute
 * holds up its like, and nothing else of its company. Looked at every quarter of a second while an owner has several requests under
 * way, and more often until CPU is left for the first time: who begins at full speed is bound in 0.4 s instead of one, in which nearly
 * all of the others' slow requests were. So they were when the others paused for 1.5 s and all that waited for them had begun
 * meanwhile: beside receipts and sends to 2,000 receivers that cost 4 to 7 times the p99 of silence instead of 2.
 *
 * This process's machine is all it sees: where PostgreSQL has one of its own, the shares of its connections bound alone.
 * Measured on two cores that clients and PostgreSQL share (`test/bench noisy 20000 5`): p99 of the other company beside one at
 * full speed, as a multiple of that in silence (14-16 ms), with a bound that halved to one place and 15 % of CPU as short, and
 * now: receipts 8.0 and 1.5 to 1.9, previews 7.3 and 1.7, files of 5 MB 7.8 and 3.6, list changes 7.0 and 3.0, the public form 4.0 and
 * 1.6, new subscribers 3.3 and 1.1. The company that asks for much gets half to all of what it got.
 */
import { throttled } from "../../lib/errors.ts";
import { COMES_BACK_MS, LastAskers } from "../../lib/give-way/others-at-work.ts";
import { gauge } from "../../lib/metrics.ts";
import { once, type Release } from "../../lib/turns.ts";

export const LOOK_EVERY_MS = 250;
/**
 * Until CPU is left for the first time: at full speed a company takes all of it within such a time. The kernel counts in
 * hundredths of a second, on two cores twenty of them here.
 */
const FIRST_LOOKS_EVERY_MS = 100;
/** Who has asked for nothing for so long is not at work. */
const AT_WORK_MS = 1_000;
/**
 * While others may come back: who does would find all under way that had waited for their sake. Two requests use two cores, of more
 * the bound grows to what they take.
 */
const LEAST_BOUND_UNTIL_BACK = 2;
const MAX_WAIT_MS = 10_000;
const RETRY_SECONDS = 5;
/** The first bound; twice as much is none again. */
const FIRST_BOUND = 8;
/** Below 1: one place, which after each request stays empty for so long that it is in use for this share of the time. */
const LEAST_BOUND = 1 / 8;
/** After a request of minutes nobody has to wait for minutes more. */
const MAX_REST_MS = 2_000;
/** Of what is under way, each look counts for so much, the past for the rest: about a second is remembered. */
const LOOK_WEIGHT = 0.3;
/** On average, at the same time: whoever asks for one thing after the other is not heavy. */
const LEAST_HEAVY = 1.5;
const FORGOTTEN = 0.05;

function less(bound: number): number {
  const quarter = Math.min(FIRST_BOUND, bound / 4);
  return quarter > 1 ? Math.floor(quarter) : Math.max(LEAST_BOUND, quarter);
}

function more(bound: number): number {
  if (bound < 1) return bound * 2;
  return bound + 1 >= 2 * FIRST_BOUND ? Number.POSITIVE_INFINITY : bound + 1;
}

interface Waiting {
  resolve: (release: Release) => void;
  timer: NodeJS.Timeout;
}

interface Kind {
  running: number;
  readonly waiting: Waiting[];
}

class Owner {
  readonly kinds = new Map<string, Kind>();
  /** Requests under way and waiting. */
  wanted = 0;
  /**
   * Of the kind of which there are most, on average. Not of all: where CPU is short, ordinary requests of many kinds pile
   * up, too, and the company that waits would count as heavy as the one that it waits for.
   */
  average = 0;

  get most(): number {
    let most = 0;
    for (const { running, waiting } of this.kinds.values()) most = Math.max(most, running + waiting.length);
    return most;
  }

  kindOf(name: string): Kind {
    const known = this.kinds.get(name);
    if (known) return known;
    const kind = { running: 0, waiting: [] };
    this.kinds.set(name, kind);
    return kind;
  }
}

let waitingInAll = 0;
gauge(
  "flockmail_requests_waiting",
  "Requests of companies that ask for much while CPU is short and others are at work.",
  () => waitingInAll,
);

interface Place {
  ownerId: string;
  owner: Owner;
  kindName: string;
  kind: Kind;
}

interface Rest {
  place: Place;
  end: () => void;
}

export class FairPlaces {
  readonly #isShort: () => boolean;
  readonly #waitMs: number;
  readonly #owners = new Map<string, Owner>();
  #bound = Number.POSITIVE_INFINITY;
  /** Of all owners' averages. */
  #sum = 0;
  /** Places that stay empty for a time, and what ends it. */
  readonly #resting = new Set<Rest>();
  /** Who asked in this second, and in the one before. */
  #asked = new Set<string>();
  #askedBefore = new Set<string>();
  #sinceMs = 0;
  readonly #askers = new LastAskers();
  #timer: NodeJS.Timeout | undefined;
  /** Nobody was bound before, or CPU has been short ever since. */
  #isOnset = true;

  /** `isShort`: whether CPU was short since it was asked before. */
  constructor(isShort: () => boolean, waitMs = MAX_WAIT_MS) {
    this.#isShort = isShort;
    this.#waitMs = waitMs;
  }

  /** Of whom something is under way, or was a moment ago. */
  get owners(): number {
    return this.#owners.size;
  }

  /** Throws 429 after a wait that was too long. */
  take(ownerId: string, kindName: string): Release | Promise<Release> {
    this.#note(ownerId);
    const owner = this.#owners.get(ownerId) ?? new Owner();
    this.#owners.set(ownerId, owner);
    owner.wanted++;
    if (!this.#timer && owner.wanted > LEAST_HEAVY) this.#watch();
    const kind = owner.kindOf(kindName);
    const place = { ownerId, owner, kindName, kind };
    if (this.#mayRun(place)) return this.#run(place);
    return new Promise((resolve, reject) => {
      const refuse = () => {
        waitingInAll--;
        kind.waiting.splice(kind.waiting.indexOf(waiting), 1);
        this.#leave(place);
        reject(throttled(RETRY_SECONDS));
      };
      const waiting: Waiting = { resolve, timer: setTimeout(refuse, this.#waitMs) };
      kind.waiting.push(waiting);
      waitingInAll++;
    });
  }

  /** Looks no more; who waits goes on. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#bound = Number.POSITIVE_INFINITY;
    for (const { end } of this.#resting) end();
    this.#serveAll();
  }

  #note(ownerId: string): void {
    this.#forgetWhoAsked();
    this.#asked.add(ownerId);
    this.#askers.note(ownerId);
  }

  #forgetWhoAsked(): void {
    const nowMs = performance.now();
    const passedMs = nowMs - this.#sinceMs;
    if (passedMs <= AT_WORK_MS) return;
    this.#askedBefore = passedMs > 2 * AT_WORK_MS ? new Set() : this.#asked;
    this.#asked = new Set();
    this.#sinceMs = nowMs;
  }

  #mayRun(place: Place): boolean {
    return place.kind.running < this.#boundOf(place);
  }

  #boundOf({ ownerId, owner: { average } }: Place): number {
    if (average < LEAST_HEAVY) return Number.POSITIVE_INFINITY;
    const sinceOthersMs = this.#askers.sinceOthersMs(ownerId);
    if (this.#owners.size > 1 || sinceOthersMs < 2 * AT_WORK_MS)
      return average > this.#meanBeside(ownerId) ? this.#bound : Number.POSITIVE_INFINITY;
    return sinceOthersMs < COMES_BACK_MS ? Math.max(LEAST_BOUND_UNTIL_BACK, this.#bound) : Number.POSITIVE_INFINITY;
  }

  #run(place: Place): Release {
    const beganMs = performance.now();
    const beganAlone = this.#bound < 1 && place.kind.running === 0;
    place.kind.running++;
    return once(() => {
      const restMs = beganAlone && place.kind.running === 1 ? this.#restMs(place, performance.now() - beganMs) : 0;
      if (restMs > 0) this.#rest(place, restMs);
      else this.#giveBack(place);
    });
  }

  #rest(place: Place, restMs: number): void {
    const end = () => {
      clearTimeout(timer);
      this.#resting.delete(rest);
      this.#giveBack(place);
    };
    const timer = setTimeout(end, restMs);
    const rest = { place, end };
    this.#resting.add(rest);
  }

  #giveBack(place: Place): void {
    place.kind.running--;
    this.#leave(place);
    this.#serve(place);
  }

  /** For how long a place stays empty after a request that was the only one: among many it took longer because of them. */
  #restMs(place: Place, tookMs: number): number {
    const bound = this.#boundOf(place);
    return bound < 1 ? Math.min(MAX_REST_MS, tookMs * (1 / bound - 1)) : 0;
  }

  #leave({ ownerId, owner, kindName, kind }: Place): void {
    owner.wanted--;
    if (kind.running === 0 && kind.waiting.length === 0) owner.kinds.delete(kindName);
    if (owner.wanted === 0 && owner.average < FORGOTTEN) this.#owners.delete(ownerId);
  }

  #serve(place: Place): void {
    const { waiting } = place.kind;
    while (waiting.length > 0 && this.#mayRun(place)) {
      const { timer, resolve } = waiting.shift()!;
      clearTimeout(timer);
      waitingInAll--;
      resolve(this.#run(place));
    }
  }

  #serveAll(): void {
    for (const [ownerId, owner] of this.#owners) {
      for (const [kindName, kind] of owner.kinds) this.#serve({ ownerId, owner, kindName, kind });
    }
  }

  #watch(): void {
    this.#isShort();
    this.#lookLater();
  }

  #lookLater(): void {
    const look = () => {
      this.#lookLater();
      this.look();
    };
    this.#timer = setTimeout(look, this.#isOnset ? FIRST_LOOKS_EVERY_MS : LOOK_EVERY_MS).unref();
  }

  /** Again and again while an owner has several requests under way. */
  look(): void {
    this.#forgetWhoAsked();
    this.#measure();
    const isShort = this.#isShort();
    this.#bound = isShort ? less(this.#bound) : more(this.#bound);
    this.#isOnset = this.#bound === Number.POSITIVE_INFINITY || (this.#isOnset && isShort);
    for (const { place, end } of this.#resting) {
      if (this.#boundOf(place) >= 1) end();
    }
    this.#serveAll();
    const isIdle = [...this.#owners.values()].every(
      ({ wanted, average }) => wanted <= LEAST_HEAVY && average < LEAST_HEAVY,
    );
    if (isIdle && this.#bound === Number.POSITIVE_INFINITY) this.#end();
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const [ownerId, owner] of this.#owners) {
      owner.average = 0;
      if (owner.wanted === 0) this.#owners.delete(ownerId);
    }
  }

  #measure(): void {
    let sum = 0;
    for (const [ownerId, owner] of this.#owners) {
      owner.average += (owner.most - owner.average) * LOOK_WEIGHT;
      if (owner.wanted === 0 && owner.average < FORGOTTEN) this.#owners.delete(ownerId);
      else sum += owner.average;
    }
    this.#sum = sum;
  }

  /**
   * Of an owner and the others at work. Who asks for little is rarely seen under way, and counts all the same, and who comes to
   * one that was alone counts at once. The owner itself may only wait, and has asked for nothing for a while.
   */
  #meanBeside(ownerId: string): number {
    const withOwner = (asked: Set<string>) => asked.size + (asked.has(ownerId) ? 0 : 1);
    // Two at least: it is asked for while others are at work, who may have paused for as long as the sets remember.
    return this.#sum / Math.max(2, this.#owners.size, withOwner(this.#asked), withOwner(this.#askedBefore));
  }
}
