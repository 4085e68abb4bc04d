/**
 * Counts connection slots over all nodes and divides them fairly between nodes with work: a node above its share
 * returns the excess, so that the first one does not keep all. A slot is held while it is renewed, so a dead node's
 * slots are freed; slots of a live node, as seen by the broker, are kept even if it cannot renew them.
 *
 * While Redis is unavailable a node keeps its slots, for open connections and their replacements, and gets no more.
 */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Redis } from "ioredis";
import { luaScript, redisServer } from "../../lib/redis.ts";
import type { ConnectionSlots } from "./connection-slots.ts";

const run = luaScript(readFileSync(join(import.meta.dirname, "connection-slots.lua"), "utf8"));

const RENEW_MS = 1_000;
/**
 * Lease of a slot: time for which a killed node's connections still count. If it held all of a server's slots, nobody
 * can send to that server until then. One call per second renews all slots of a node.
 */
const SLOT_LIFE_MS = 4_000;
/** Time for which a node's demand counts in the shares after it last asked for slots or had work for its slots. */
const DEMAND_LIFE_MS = 2_500;

/** Manages the slots of one node: renews them all once per second, and upon reconnection. */
export class RedisSlots {
  readonly redis: Redis;
  readonly name: string;
  readonly #senders: () => readonly string[];
  readonly #held = new Set<RedisConnectionSlots>();
  #timer: NodeJS.Timeout | undefined;
  #renewing = false;
  readonly #renew = () => void this.#renewAll();

  /** `senders`: names of the live senders, as seen by the broker. */
  constructor(redis: Redis, name: string, senders: () => readonly string[]) {
    this.redis = redis;
    this.name = name;
    this.#senders = senders;
  }

  start(): void {
    this.redis.on("ready", this.#renew);
    this.#timer = setInterval(this.#renew, RENEW_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.redis.off("ready", this.#renew);
  }

  /** `hasWork`: true while this node needs its connections. */
  of(key: string, hasWork: () => boolean): ConnectionSlots {
    return new RedisConnectionSlots(this, key, hasWork, this.#held);
  }

  get others(): readonly string[] {
    return this.#senders().filter((name) => name !== this.name);
  }

  /** A failed renewal is repeated a second later. */
  async #renewAll(): Promise<void> {
    if (this.#renewing) return;
    this.#renewing = true;
    await Promise.allSettled([...this.#held].map((slots) => slots.renewAll()));
    this.#renewing = false;
  }
}

class RedisConnectionSlots implements ConnectionSlots {
  readonly #node: RedisSlots;
  readonly #key: string;
  readonly #hasWork: () => boolean;
  /** All slots of the node to renew. */
  readonly #renewed: Set<RedisConnectionSlots>;
  #fairShare = Number.POSITIVE_INFINITY;
  #max = 0;
  #asking = 0;
  readonly #held = new Set<string>();
  /** Slots of connections that ended during a Redis outage: Redis still counts them. */
  readonly #spare = new Set<string>();
  /** Requested slots without an answer: they may be ours. */
  readonly #inDoubt = new Set<string>();

  constructor(node: RedisSlots, key: string, hasWork: () => boolean, renewed: Set<RedisConnectionSlots>) {
    this.#node = node;
    this.#key = `slots:${key}`;
    this.#hasWork = hasWork;
    this.#renewed = renewed;
  }

  async #hold(slots: readonly string[], { keep, demand }: { keep: boolean; demand: boolean }): Promise<number> {
    const { redis, name, others } = this.#node;
    const { id } = await redisServer(redis);
    const keys = [this.#key, `${this.#key}:nodes`, `slots-since:${id}`];
    const alreadyHeld = keep ? 0 : this.#held.size + this.#asking - 1;
    const flags = [Number(demand), Number(keep), alreadyHeld];
    const args = [this.#max, SLOT_LIFE_MS, DEMAND_LIFE_MS, name, ...flags, others.length, ...others, ...slots];
    const [held, share] = (await run(redis, keys, args)) as [number, number];
    this.#fairShare = share;
    return held;
  }

  /** If `max` has changed, the share is updated with the next requested slot. */
  fairShare(max: number): number {
    return max === this.#max ? this.#fairShare : Number.POSITIVE_INFINITY;
  }

  /** Keeps held slots, even above the fair share. */
  async renewAll(): Promise<void> {
    const slots = [...this.#held, ...this.#spare];
    if (slots.length > 0) await this.#hold(slots, { keep: true, demand: this.#hasWork() });
    for (const slots of [this.#spare, this.#inDoubt]) {
      for (const slot of slots) {
        // Not while it is being freed: it belongs to us until then.
        slots.delete(slot);
        await this.#free(slot).catch((error) => {
          slots.add(slot);
          throw error;
        });
      }
    }
    if (this.#held.size === 0) this.#renewed.delete(this);
  }

  #free(slot: string): Promise<unknown> {
    return this.#node.redis.zrem(this.#key, `${this.#node.name} ${slot}`);
  }

  #giveBack(slot: string): void {
    if (!this.#held.delete(slot)) return;
    this.#free(slot).catch(() => this.#spare.add(slot));
  }

  #use(slot: string): () => void {
    this.#held.add(slot);
    this.#renewed.add(this);
    return () => this.#giveBack(slot);
  }

  async take(max: number): Promise<(() => void) | undefined> {
    const slot = randomBytes(9).toString("base64url");
    this.#max = max;
    this.#asking++;
    try {
      const held = await this.#hold([slot], { keep: false, demand: true });
      return held === 1 ? this.#use(slot) : undefined;
    } catch (error) {
      this.#inDoubt.add(slot);
      this.#renewed.add(this);
      const [spare] = this.#spare;
      if (spare !== undefined && this.#held.size < max) {
        this.#spare.delete(spare);
        return this.#use(spare);
      }
      if (this.#held.size > 0) return undefined;
      throw error;
    } finally {
      this.#asking--;
    }
  }
}
