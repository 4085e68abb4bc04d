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

const LIFE_MS = 30_000;
const RENEW_MS = 10_000;
/** Renewing never fails for want of room. */
const NO_MAX = 1_000_000;

export class RedisSlots implements Slots {
  #redis: Redis;
  #key: string;

  constructor(redis: Redis, smtpConfigId: string) {
    this.#redis = redis;
    this.#key = `slots:${smtpConfigId}`;
  }

  #hold(holder: string, max: number): Promise<unknown> {
    return run(this.#redis, [this.#key], [holder, max, LIFE_MS]);
  }

  async take(max: number): Promise<(() => void) | undefined> {
    const holder = randomBytes(9).toString("base64url");
    if ((await this.#hold(holder, max)) !== 1) return undefined;
    const renewing = setInterval(() => void this.#hold(holder, NO_MAX).catch(() => {}), RENEW_MS);
    renewing.unref();
    return () => {
      clearInterval(renewing);
      void this.#redis.zrem(this.#key, holder).catch(() => {});
    };
  }
}
