/**
 * Connection slots of all nodes together, in equal parts for those that have work: who came first gives back what is more
 * than its part, else one node would send everything and the others nothing. A slot is held for as long as it is renewed,
 * so that a node which dies leaves none taken. While Redis is away no new slot is given; connections that are open go on.
 */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Redis } from "ioredis";
import { luaScript } from "../../lib/redis.ts";
import type { ConnectionSlots } from "./connection-slots.ts";

const run = luaScript(readFileSync(join(import.meta.dirname, "connection-slots.lua"), "utf8"));

/**
 * How long a killed node's connections count, though they are gone: a node that had all of a server's slots leaves
 * nobody to send to it until then. One call a second renews all that a node holds.
 */
const LIFE_MS = 4_000;
const RENEW_MS = 1_000;
/** A node that asked for slots, or still has work for those it has, counts when parts are made. */
const WISH_MS = 2_500;

export class RedisConnectionSlots implements ConnectionSlots {
  #part = Number.POSITIVE_INFINITY;
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

  async #hold(holders: readonly string[], { keep, wants }: { keep: boolean; wants: boolean }): Promise<number> {
    const beside = keep ? 0 : this.#holders.size + this.#asking - 1;
    const args = [this.#max, LIFE_MS, WISH_MS, this.#node, Number(wants), Number(keep), beside, ...holders];
    const [held, part] = (await run(this.#redis, [this.#key, `${this.#key}:nodes`], args)) as [number, number];
    this.#part = part;
    return held;
  }

  /** Of another `max` than the one it was made of, a part is known with the next slot that is asked for. */
  fairShare(max: number): number {
    return max === this.#max ? this.#part : Number.POSITIVE_INFINITY;
  }

  /** Never fails for want of room. */
  #renew(): void {
    this.#hold([...this.#holders], { keep: true, wants: this.#hasWork() }).catch(() => {});
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
    const held = await this.#hold([holder], { keep: false, wants: true }).finally(() => this.#asking--);
    if (held !== 1) return undefined;
    this.#holders.add(holder);
    this.#renewing ??= setInterval(() => this.#renew(), RENEW_MS).unref();
    return () => this.#giveBack(holder);
  }
}
