/**
 * Connection slots of all nodes together, in fair shares for those that have work: a node that was first gives back
 * what is more than its share, so that it does not send everything while the others send nothing. A slot is held for as
 * long as it is renewed, so a node that dies leaves none taken; and by a node that lives, as the broker sees it, and
 * cannot renew it.
 *
 * While Redis is away a node keeps the slots that it has, for open connections and for those that replace them, and
 * gets no more.
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
 * How long a killed node's connections count although they are gone: if it had all of a server's slots, nobody can send
 * to the server until then. One call a second renews all that a node holds.
 */
const SLOT_LIFE_MS = 4_000;
/** A node that asked for slots, or still has work for those it has, counts this long when shares are made. */
const DEMAND_LIFE_MS = 2_500;

/** The slots of one node: all that it holds is renewed once a second, and as soon as it is connected again. */
export class RedisSlots {
  readonly redis: Redis;
  readonly name: string;
  readonly #senders: () => readonly string[];
  readonly #held = new Set<RedisConnectionSlots>();
  #timer: NodeJS.Timeout | undefined;
  #renewing = false;
  readonly #renew = () => void this.#renewAll();

  /** `senders`: the names of the senders that live, as the broker sees them. */
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

  /** `hasWork`: whether the connections that this node has will be needed any longer. */
  of(key: string, hasWork: () => boolean): ConnectionSlots {
    return new RedisConnectionSlots(this, key, hasWork, this.#held);
  }

  get others(): readonly string[] {
    return this.#senders().filter((name) => name !== this.name);
  }

  /** Slots whose renewal fails are renewed a second later. */
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
  /** All of the node that are to be renewed. */
  readonly #renewed: Set<RedisConnectionSlots>;
  #fairShare = Number.POSITIVE_INFINITY;
  #max = 0;
  #asking = 0;
  readonly #held = new Set<string>();
  /** Of connections that ended while Redis was away: it still counts them as ours. */
  readonly #spare = new Set<string>();
  /** Asked for without an answer: they may be ours. */
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

  /** For another `max` than the one it was computed for, the share is known with the next slot that is asked for. */
  fairShare(max: number): number {
    return max === this.#max ? this.#fairShare : Number.POSITIVE_INFINITY;
  }

  /** Keeps what is held, also beyond the fair share. */
  async renewAll(): Promise<void> {
    const kept = [...this.#held, ...this.#spare];
    if (kept.length > 0) await this.#hold(kept, { keep: true, demand: this.#hasWork() });
    for (const slots of [this.#spare, this.#inDoubt]) {
      for (const slot of slots) {
        // Not while it is being freed: it is ours until then, and nobody's afterwards.
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
