/**
 * Connection slots of all nodes together, in fair shares for those that have work: a node that came first gives back what
 * is more than its share, or it would send everything and the others nothing. A slot is held for as long as it is renewed,
 * so a node that dies leaves none taken; and by a node that lives and cannot renew it.
 *
 * While Redis is away a node keeps the slots that it has, for the connections that are open and for those that come in
 * their place, and gets no more.
 */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { config } from "../../lib/config.ts";
import { luaScript } from "../../lib/redis.ts";
import type { ConnectionSlots } from "./connection-slots.ts";
import type { SenderPresence } from "./sender-presence.ts";

const run = luaScript(readFileSync(join(import.meta.dirname, "connection-slots.lua"), "utf8"));

/**
 * How long a killed node's connections count although they are gone: if it had all of a server's slots, nobody can send to
 * the server until then. One call a second renews all that a node holds.
 */
const SLOT_LIFE_MS = 4_000;
/** A node that asked for slots, or still has work for those it has, counts this long when shares are made. */
const DEMAND_LIFE_MS = 2_500;

export class RedisConnectionSlots implements ConnectionSlots {
  readonly #presence: SenderPresence;
  readonly #key: string;
  readonly #hasWork: () => boolean;
  #fairShare = Number.POSITIVE_INFINITY;
  #max = 0;
  #asking = 0;
  readonly #held = new Set<string>();
  /** Of connections that ended while Redis was away: it still counts them as ours. */
  readonly #spare = new Set<string>();
  /** Whether these were given nobody knows: the answer did not come. */
  readonly #inDoubt = new Set<string>();

  /** `hasWork`: whether the connections that this node has will be needed any longer. */
  constructor(presence: SenderPresence, smtpConfigId: string, hasWork: () => boolean) {
    this.#presence = presence;
    this.#key = `slots:${smtpConfigId}`;
    this.#hasWork = hasWork;
  }

  async #hold(slots: readonly string[], { keep, demand }: { keep: boolean; demand: boolean }): Promise<number> {
    const { redis, name, others } = this.#presence;
    const senders = await this.#presence.key();
    const keys = [this.#key, `${this.#key}:nodes`, senders, `${senders}:awaited`];
    const alreadyHeld = keep ? 0 : this.#held.size + this.#asking - 1;
    const patienceMs = config().SEND_LEASE_SECONDS * 1_000;
    const flags = [Number(demand), Number(keep), alreadyHeld, patienceMs];
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
    if (this.#held.size === 0) this.#presence.remove(this);
  }

  #free(slot: string): Promise<unknown> {
    return this.#presence.redis.zrem(this.#key, `${this.#presence.name} ${slot}`);
  }

  #giveBack(slot: string): void {
    if (!this.#held.delete(slot)) return;
    this.#free(slot).catch(() => this.#spare.add(slot));
  }

  #use(slot: string): () => void {
    this.#held.add(slot);
    this.#presence.add(this);
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
      this.#presence.add(this);
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
