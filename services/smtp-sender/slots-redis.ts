/**
 * Connection slots of all nodes together. A slot is held for as long as it is renewed, so that a node which dies leaves
 * none taken. While Redis is away no new slot is given; connections that are open go on.
 */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Redis } from "ioredis";
import { luaScript } from "../../mixins/redis.ts";
import type { Slots } from "./slots.ts";

const run = luaScript(readFileSync(join(import.meta.dirname, "slots.lua"), "utf8"));

/**
 * How long a killed node's connections count, though they are gone: a node that had all of a server's slots leaves
 * nobody to send to it until then. One call a second renews all that a node holds.
 */
const LIFE_MS = 4_000;
const RENEW_MS = 1_000;
/** Renewing never fails for want of room. */
const NO_MAX = 1_000_000;

export class RedisSlots implements Slots {
  #redis: Redis;
  #key: string;
  #holders = new Set<string>();
  #renewing: NodeJS.Timeout | undefined;

  constructor(redis: Redis, smtpConfigId: string) {
    this.#redis = redis;
    this.#key = `slots:${smtpConfigId}`;
  }

  #hold(holders: readonly string[], max: number): Promise<unknown> {
    return run(this.#redis, [this.#key], [max, LIFE_MS, ...holders]);
  }

  #renew(): void {
    this.#hold([...this.#holders], NO_MAX).catch(() => {});
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
    if ((await this.#hold([holder], max)) !== 1) return undefined;
    this.#holders.add(holder);
    this.#renewing ??= setInterval(() => this.#renew(), RENEW_MS).unref();
    return () => this.#giveBack(holder);
  }
}
