/**
 * What the senders of all nodes have learnt of domains that defer, in Redis: one hash for all, read once a second, whose
 * entries are as many as domains that defer now. A node that does not reach Redis learns by itself.
 */
import type { Redis } from "ioredis";
import { isForgotten, perMinuteOf, type SlowDomain } from "./slow-domain.ts";

const KEY = "slow-domains";
const READ_PAUSE_MS = 1_000;
/** Nobody has changed any of them for so long. */
const LIFE_MS = 3_600_000;
const MAX_ENTRIES = 10_000;

export class SharedSlowDomains {
  readonly #redis: Redis;
  readonly #windowMs: number;
  #known = new Map<string, Map<string, SlowDomain>>();
  #reading = false;
  #readAtMs = Number.NEGATIVE_INFINITY;

  constructor(redis: Redis, windowMs: number) {
    this.#redis = redis;
    this.#windowMs = windowMs;
  }

  /** By SMTP configuration, as they were read last. */
  of(smtpConfigId: string): ReadonlyMap<string, SlowDomain> | undefined {
    return this.#known.get(smtpConfigId);
  }

  /** The same as people read it. */
  allOf(smtpConfigId: string): { domain: string; perMinute: number; text: string }[] {
    const windowMs = this.#windowMs;
    const now = Date.now();
    return [...(this.of(smtpConfigId) ?? [])].map(([domain, slow]) => ({
      domain,
      perMinute: perMinuteOf(slow, now, windowMs),
      text: slow.text,
    }));
  }

  publish(smtpConfigId: string, domain: string, slow: SlowDomain): void {
    const write = this.#redis.pipeline().hset(KEY, `${smtpConfigId} ${domain}`, JSON.stringify(slow));
    // What is not written now is learnt by each node for itself.
    write
      .pexpire(KEY, LIFE_MS)
      .exec()
      .catch(() => {});
  }

  /** Called a few times a second. */
  tick(): void {
    const now = performance.now();
    if (this.#reading || now - this.#readAtMs < READ_PAUSE_MS) return;
    this.#readAtMs = now;
    this.#reading = true;
    this.#read()
      .catch(() => {})
      .finally(() => {
        this.#reading = false;
      });
  }

  async #read(): Promise<void> {
    const entries = Object.entries(await this.#redis.hgetall(KEY));
    const known = new Map<string, Map<string, SlowDomain>>();
    const forgotten: string[] = [];
    for (const [field, json] of entries) {
      const slow = JSON.parse(json) as SlowDomain;
      if (isForgotten(slow, Date.now(), this.#windowMs)) {
        forgotten.push(field);
        continue;
      }
      const [smtpConfigId, domain] = field.split(" ") as [string, string];
      const same = known.get(smtpConfigId) ?? new Map<string, SlowDomain>();
      known.set(smtpConfigId, same.set(domain, slow));
    }
    this.#known = known;
    const surplus = entries.length > MAX_ENTRIES ? entries.slice(MAX_ENTRIES).map(([field]) => field) : [];
    if (forgotten.length + surplus.length > 0) await this.#redis.hdel(KEY, ...forgotten, ...surplus);
  }
}
