/**
 * Connection slots of all nodes together, in fair shares for those that have work: a node that came first gives back what
 * is more than its share, or it would send everything and the others nothing. A slot is held for as long as it is renewed,
 * so a node that dies leaves none taken. While Redis is away no new slot is given; open connections go on.
 */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Redis } from "ioredis";
import { luaScript } from "../../lib/redis.ts";
import type { ConnectionSlots } from "./connection-slots.ts";

const run = luaScript(readFileSync(join(import.meta.dirname, "connection-slots.lua"), "utf8"));

/**
 * How long a killed node's connections count although they are gone: if it had all of a server's slots, nobody can send to
 * the server until then. One call a second renews all that a node holds.
 */
const SLOT_LIFE_MS = 4_000;
const RENEW_MS = 1_000;
/** A node that asked for slots, or still has work for those it has, counts this long when shares are made. */
const DEMAND_LIFE_MS = 2_500;

export class RedisConnectionSlots implements ConnectionSlots {
  #fairShare = Number.POSITIVE_INFINITY;
  #redis: Redis;
  #key: string;
  #hasWork: () => boolean;
  #node = randomBytes(9).toString("base64url");
  #max = 0;
  #asking = 0;
  #holders = new Set<string>();
  #renewing: NodeJS.Timeout | undefined;

  /** `hasWork`: whether the connections that this node has will be needed any longer. */
  constructor(redis: Redis, smtpConfigId: string, hasWork: () => boolean) {
    this.#redis = redis;
    this.#key = `slots:${smtpConfigId}`;
    this.#hasWork = hasWork;
  }

  async #hold(holders: readonly string[], { keep, demand }: { keep: boolean; demand: boolean }): Promise<number> {
    const alreadyHeld = keep ? 0 : this.#holders.size + this.#asking - 1;
    const args = [
      this.#max,
      SLOT_LIFE_MS,
      DEMAND_LIFE_MS,
      this.#node,
      Number(demand),
      Number(keep),
      alreadyHeld,
      ...holders,
    ];
    const [held, share] = (await run(this.#redis, [this.#key, `${this.#key}:nodes`], args)) as [number, number];
    this.#fairShare = share;
    return held;
  }

  /** For another `max` than the one it was computed for, the share is known with the next slot that is asked for. */
  fairShare(max: number): number {
    return max === this.#max ? this.#fairShare : Number.POSITIVE_INFINITY;
  }

  /** Keeps what is held, also beyond the fair share. */
  #renew(): void {
    this.#hold([...this.#holders], { keep: true, demand: this.#hasWork() }).catch(() => {});
  }

  #giveBack(holder: string): void {
    if (!this.#holders.delete(holder)) return;
    if (this.#holders.size === 0) {
      clearInterval(this.#renewing);
      this.#renewing = undefined;
    }
    this.#redis.zrem(this.#key, holder).catch(() => {});
  }

  async take(max: number): Promise<(() => void) | undefined> {
    const holder = randomBytes(9).toString("base64url");
    this.#max = max;
    this.#asking++;
    const held = await this.#hold([holder], { keep: false, demand: true }).finally(() => this.#asking--);
    if (held !== 1) return undefined;
    this.#holders.add(holder);
    this.#renewing ??= setInterval(() => this.#renew(), RENEW_MS).unref();
    return () => this.#giveBack(holder);
  }
}
