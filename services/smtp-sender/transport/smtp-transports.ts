/** The relays of a node, one for each SMTP configuration in use; made at the first claim, dropped when idle. */

import { readTransportConfig } from "../configs/transport-config.ts";
import type { BatchDelivery } from "../delivery/batch-delivery.ts";
import type { ClaimableCampaign } from "../delivery/rows.ts";
import type { EngineContext } from "../engine/context.ts";
import { SmtpTransport } from "./smtp-transport.ts";

// Should the event about a changed configuration be lost.
const RELOAD_MS = 15_000;
/** Beyond so many connections, idle ones are closed soon: thousands of companies that send a little each would keep all open. */
const CROWDED = 400;
const CROWDED_IDLE_MS = 500;
/** A relay that was just asked for has no lane yet: its lease is still being taken. Dropped then, the lease would hang. */
const UNUSED_MS = 10_000;

export class SmtpTransports {
  #tools: EngineContext;
  #relays = new Map<string, SmtpTransport>();
  #reloadAt = Date.now() + RELOAD_MS;
  #askedAt = new Map<string, number>();

  constructor(tools: EngineContext) {
    this.#tools = tools;
  }

  get all(): Iterable<SmtpTransport> {
    return this.#relays.values();
  }

  get(smtpConfigId: string): SmtpTransport | undefined {
    return this.#relays.get(smtpConfigId);
  }

  *batches(): Generator<BatchDelivery> {
    for (const relay of this.#relays.values()) yield* relay.batches;
  }

  /** The relay for a turn; undefined where its configuration was deleted (the campaign is stopped) or is unreadable. */
  async of(turn: ClaimableCampaign): Promise<SmtpTransport | undefined> {
    const known = this.#relays.get(turn.smtp_config_id);
    if (known && !known.deleted) {
      this.#askedAt.set(turn.smtp_config_id, Date.now());
      return known;
    }
    let error = "The SMTP configuration was deleted.";
    const config = await readTransportConfig(turn.company_id, turn.smtp_config_id).catch((failure: Error) => {
      if (!/SECRET_KEY|authenticate/.test(failure.message)) throw failure;
      error = "The stored SMTP password cannot be read any more. Enter it again.";
      return undefined;
    });
    if (!config) {
      await this.#tools.stopCampaign(turn.company_id, turn.campaign_id, error);
      return undefined;
    }
    const relay = this.#relays.get(config.id) ?? new SmtpTransport(this.#tools, config);
    this.#relays.set(config.id, relay);
    this.#askedAt.set(config.id, Date.now());
    return relay;
  }

  tick(): void {
    let connections = 0;
    for (const relay of this.#relays.values()) connections += relay.connections.size;
    const { idleMs } = this.#tools.settings;
    const idle = connections > CROWDED ? Math.min(idleMs, CROWDED_IDLE_MS) : idleMs;
    const reload = Date.now() > this.#reloadAt;
    if (reload) this.#reloadAt = Date.now() + RELOAD_MS;
    for (const [id, relay] of this.#relays) {
      if (relay.idle && Date.now() - (this.#askedAt.get(id) ?? 0) > UNUSED_MS) {
        this.#relays.delete(id);
        this.#askedAt.delete(id);
        void relay.close(0);
        continue;
      }
      relay.tick(idle);
      if (reload) void this.reload(id);
    }
  }

  async reload(smtpConfigId: string): Promise<void> {
    await this.#relays
      .get(smtpConfigId)
      ?.reload()
      .catch((error: Error) => this.#tools.reportOutage(error));
  }

  async close(withinMs: number): Promise<void> {
    await Promise.all([...this.#relays.values()].map((relay) => relay.close(withinMs)));
  }
}
