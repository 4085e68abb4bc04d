/**
 * Which senders count in Redis, and which live without it. The broker says who lives; each sender that reaches Redis says so
 * there once a second, after it has renewed what it holds. One that lives and does not is cut off: it goes on with the
 * connections that it has and with its share of the rates, and the others leave it both.
 *
 * The list belongs to one start of one server, so that in a Redis that lost its data nobody is given a connection before
 * everybody has said which ones he has.
 */
import { performance } from "node:perf_hooks";
import type { Redis } from "ioredis";
import { luaScript, redisServer } from "../../lib/redis.ts";

const CHECK_IN_MS = 1_000;
/** A sender that did not check in for so long is cut off for the others. */
export const CUT_OFF_AFTER_MS = 3_000;
/** Who checked in before this may not have seen who is cut off by now: then all others count as missing. */
const KNOWN_MISSING_FOR_MS = 2_000;
/** From then on all others leave it its share. It takes none before what they, or itself, took until then is over, too. */
const LEFT_ITS_SHARE_AFTER_MS = CUT_OFF_AFTER_MS + KNOWN_MISSING_FOR_MS;
const SECOND_MS = 1_000;
/** What it took by itself at last is in no count of Redis. */
const COUNTS_AGAIN_AFTER_MS = 1_100;
/** The broker may lose sight of senders while this one is cut off from it too: they count on for so long. */
const KNOWN_FOR_MS = 60_000;

/** KEYS[1] sorted set: sender -> when it checked in. ARGV: this one, cut off after ms, all that live. Returns how many are cut off. */
const checkIn = luaScript(`
  local time = redis.call('TIME')
  local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  redis.call('ZADD', KEYS[1], now, ARGV[1])
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - 3600000)
  redis.call('PEXPIRE', KEYS[1], 3600000)
  local missing = 0
  for i = 3, #ARGV do
    local at = redis.call('ZSCORE', KEYS[1], ARGV[i])
    if not at or tonumber(at) < now - tonumber(ARGV[2]) then missing = missing + 1 end
  end
  return missing`);

interface Holder {
  /** Renews what is held; a failure is one of Redis. */
  renewAll(): Promise<void>;
}

export class SenderPresence {
  readonly redis: Redis;
  readonly name: string;
  readonly #others: () => readonly string[];
  readonly #holders = new Set<Holder>();
  #lastSeenMs = performance.now();
  /** Of the last list of those who are missing: when it was asked for. */
  #missingAtMs = Number.NEGATIVE_INFINITY;
  #backSinceMs = Number.NEGATIVE_INFINITY;
  #known = 1;
  #knownUntilMs = 0;
  #missing = 0;
  /** How many were missing, and when for the last time. */
  readonly #missed = new Map<number, number>();
  #checkingIn: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  readonly #ready = () => void this.checkIn();

  /** `others`: the names of the other senders that live, as the broker sees them. */
  constructor(redis: Redis, name: string, others: () => readonly string[]) {
    this.redis = redis;
    this.name = name;
    this.#others = others;
  }

  async start(): Promise<void> {
    this.redis.on("ready", this.#ready);
    this.#timer = setInterval(() => void this.checkIn(), CHECK_IN_MS).unref();
    await this.checkIn();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.redis.off("ready", this.#ready);
  }

  add(holder: Holder): void {
    this.#holders.add(holder);
  }

  remove(holder: Holder): void {
    this.#holders.delete(holder);
  }

  /** Names of the others that live. */
  get others(): readonly string[] {
    return this.#others().filter((name) => name !== this.name);
  }

  /** The key of the list of this server, and of this start of it. */
  async key(): Promise<string> {
    return `senders:${(await redisServer(this.redis)).id}`;
  }

  /** All senders, with this one. */
  get known(): number {
    const now = performance.now();
    const seen = this.others.length + 1;
    if (seen >= this.#known || now > this.#knownUntilMs) {
      this.#known = seen;
      this.#knownUntilMs = now + KNOWN_FOR_MS;
    }
    return this.#known;
  }

  /** Senders that live and do not reach Redis, or may not: this one has not asked for some time. */
  get missing(): number {
    return performance.now() - this.#missingAtMs > KNOWN_MISSING_FOR_MS ? this.known - 1 : this.#missing;
  }

  /** The most that were missing at some time within the last `ms`: what they took by themselves is in no count. */
  missingWithin(ms: number): number {
    let most = this.missing;
    const since = performance.now() - ms;
    for (const [missing, atMs] of this.#missed) if (atMs >= since) most = Math.max(most, missing);
    return most;
  }

  /** Until it may take its share of such a window by itself, once it does not reach Redis any more. */
  ownShareInMs(windowMs: number): number {
    return Math.max(0, this.#lastSeenMs + LEFT_ITS_SHARE_AFTER_MS + windowMs - performance.now());
  }

  /** This one does not reach Redis, and the others have known it for a second. */
  get isCutOff(): boolean {
    return this.ownShareInMs(SECOND_MS) === 0;
  }

  /** Until it may count in Redis again; 0 unless it was cut off just now. */
  get backInMs(): number {
    return Math.max(0, this.#backSinceMs + COUNTS_AGAIN_AFTER_MS - performance.now());
  }

  checkIn(): Promise<void> {
    this.#checkingIn ??= this.#checkIn()
      .catch(() => {})
      .finally(() => {
        this.#checkingIn = undefined;
      });
    return this.#checkingIn;
  }

  async #checkIn(): Promise<void> {
    const key = await this.key();
    await Promise.all([...this.#holders].map((holder) => holder.renewAll()));
    const askedAtMs = performance.now();
    const missing = (await checkIn(this.redis, [key], [this.name, CUT_OFF_AFTER_MS, ...this.others])) as number;
    // Between the two the connection may have come to lead elsewhere.
    if (key !== (await this.key())) return;
    if (this.isCutOff) this.#backSinceMs = performance.now();
    this.#missing = missing;
    this.#missingAtMs = askedAtMs;
    if (missing > 0) this.#missed.set(missing, performance.now());
    this.#lastSeenMs = performance.now();
  }
}
