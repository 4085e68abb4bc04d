/**
 * Who asks for much waits for itself, while the machine is short of CPU and others are at work: of a heavy owner (a company,
 * a person, a company's public form) few requests of a kind are under way at once, the rest wait before their bodies are
 * read. What bounds places elsewhere (connections, worker threads) leaves all cores to a company that has a few of each.
 *
 * | the machine                         | who                               | of each kind at once |
 * |-------------------------------------|-----------------------------------|----------------------|
 * | has CPU left                        | everybody                         | all                  |
 * | is short of it, nobody else at work | everybody                         | all                  |
 * | is short of it                      | owners with no more than the mean | all                  |
 * | is short of it                      | owners with more                  | 8, then less         |
 *
 * The bound halves while CPU is short, down to half as many as there are cores, and grows by one while it is not, so that it
 * settles where the machine is used and not overrun. By kind: a request that takes a minute holds up its like, and nothing
 * else of its company. Looked at every quarter of a second, while an owner has several requests under way beside others.
 *
 * This process's machine is all it sees: where PostgreSQL has one of its own, the shares of its connections bound alone.
 * Measured on two cores (`test/bench noisy 20000 5`, p99 of the other company, 21-31 ms in silence, beside one at full speed; two
 * runs before and after in turn): receipts 189 and 159, then 69 and 115 ms; the public form 129 and 121, then 43 and 65; files of
 * 5 MB 401 and 831, then 121 and 175, with the uploads' own wait. The company that asks for much gets half as many receipts.
 */
import { availableParallelism } from "node:os";
import { throttled } from "../../lib/errors.ts";
import { gauge } from "../../lib/metrics.ts";
import { once, type Release } from "../../lib/turns.ts";

export const LOOK_EVERY_MS = 250;
/** Who has asked for nothing for so long is not at work. */
const AT_WORK_MS = 1_000;
const MAX_WAIT_MS = 10_000;
const RETRY_SECONDS = 5;
/** The first bound; twice as much is none again. */
const FIRST_BOUND = 8;
const LEAST_BOUND = Math.min(FIRST_BOUND, Math.max(1, Math.floor(availableParallelism() / 2)));
/** Of what is under way, each look counts for so much, the past for the rest: about a second is remembered. */
const LOOK_WEIGHT = 0.3;
/** On average, at the same time: whoever asks for one thing after the other is not heavy. */
const LEAST_HEAVY = 1.5;
const FORGOTTEN = 0.05;

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

export class FairPlaces {
  readonly #isShort: () => boolean;
  readonly #waitMs: number;
  readonly #owners = new Map<string, Owner>();
  #bound = Number.POSITIVE_INFINITY;
  #mean = 0;
  /** Who asked in this second, and in the one before. */
  #asked = new Set<string>();
  #askedBefore = new Set<string>();
  #sinceMs = 0;
  #timer: NodeJS.Timeout | undefined;

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
    if (!this.#timer && owner.wanted > LEAST_HEAVY && this.#isAmongOthers(ownerId)) this.#watch();
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
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#bound = Number.POSITIVE_INFINITY;
    this.#serveAll();
  }

  #note(ownerId: string): void {
    const nowMs = performance.now();
    const passedMs = nowMs - this.#sinceMs;
    if (passedMs > AT_WORK_MS) {
      this.#askedBefore = passedMs > 2 * AT_WORK_MS ? new Set() : this.#asked;
      this.#asked = new Set();
      this.#sinceMs = nowMs;
    }
    this.#asked.add(ownerId);
  }

  #isAmongOthers(ownerId: string): boolean {
    const others = (asked: Set<string>) => asked.size > (asked.has(ownerId) ? 1 : 0);
    return this.#owners.size > 1 || others(this.#asked) || others(this.#askedBefore);
  }

  #mayRun({ ownerId, owner, kind }: Place): boolean {
    if (kind.running < this.#bound) return true;
    return owner.average < LEAST_HEAVY || owner.average <= this.#mean || !this.#isAmongOthers(ownerId);
  }

  #run(place: Place): Release {
    place.kind.running++;
    return once(() => {
      place.kind.running--;
      this.#leave(place);
      this.#serve(place);
    });
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
    this.#timer = setInterval(() => this.look(), LOOK_EVERY_MS);
    this.#timer.unref();
  }

  /** Every quarter of a second while an owner has several requests under way. */
  look(): void {
    this.#measure();
    if (this.#isShort()) this.#bound = Math.max(LEAST_BOUND, Math.min(FIRST_BOUND, Math.floor(this.#bound / 2)));
    else if (++this.#bound >= 2 * FIRST_BOUND) this.#bound = Number.POSITIVE_INFINITY;
    this.#serveAll();
    const isIdle = this.#bound === Number.POSITIVE_INFINITY && this.#mean < LEAST_HEAVY;
    if (isIdle && [...this.#owners.values()].every(({ wanted }) => wanted <= LEAST_HEAVY)) this.#end();
  }

  #end(): void {
    clearInterval(this.#timer);
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
    // Who asks for little is rarely seen under way, and counts all the same.
    this.#mean = sum / Math.max(1, this.#owners.size, this.#asked.size, this.#askedBefore.size);
  }
}
