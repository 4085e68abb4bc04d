/** The transports of a node, one for each SMTP configuration in use: made at the first claim, dropped when idle. */
import { performance } from "node:perf_hooks";
import { readTransportConfigs, UnreadablePassword } from "../configs/transport-config.ts";
import type { Batch } from "../delivery/batch.ts";
import type { ClaimableCampaign } from "../delivery/rows.ts";
import type { EngineContext } from "../engine/context.ts";
import { SmtpTransport } from "./smtp-transport.ts";

/** In case the event about a changed configuration is lost. */
const RELOAD_MS = 15_000;
/** Above so many connections, idle ones are closed soon: thousands of companies that send a little would keep theirs. */
const MANY_CONNECTIONS = 400;
const MANY_CONNECTIONS_IDLE_MS = 500;
/** A transport that was just asked for has no batch yet: its lease is being taken. Dropped now, the lease would hang. */
const UNUSED_MS = 10_000;

export class SmtpTransports {
  #context: EngineContext;
  #transports = new Map<string, SmtpTransport>();
  #reloadAt = performance.now() + RELOAD_MS;
  #askedAt = new Map<string, number>();

  constructor(context: EngineContext) {
    this.#context = context;
  }

  get all(): Iterable<SmtpTransport> {
    return this.#transports.values();
  }

  get(smtpConfigId: string): SmtpTransport | undefined {
    return this.#transports.get(smtpConfigId);
  }

  *batches(): Generator<Batch> {
    for (const transport of this.#transports.values()) yield* transport.batches;
  }

  /**
   * The transports for these campaigns, by the id of their configuration; new ones are read in one statement. A campaign
   * whose configuration was deleted or is unreadable is stopped, and its transport is missing.
   */
  async forCampaigns(campaigns: readonly ClaimableCampaign[]): Promise<Map<string, SmtpTransport>> {
    const found = new Map<string, SmtpTransport>();
    const wanted = new Map<string, { id: string; companyId: string }>();
    for (const { smtp_config_id: id, company_id: companyId } of campaigns) {
      const known = this.#transports.get(id);
      if (!known || known.deleted) wanted.set(id, { id, companyId });
      else found.set(id, known);
    }
    const configs = wanted.size === 0 ? new Map() : await readTransportConfigs([...wanted.values()]);
    for (const [id, config] of configs) {
      if (config instanceof UnreadablePassword) continue;
      const transport = this.#transports.get(id) ?? new SmtpTransport(this.#context, config);
      this.#transports.set(id, transport);
      found.set(id, transport);
    }
    for (const id of found.keys()) this.#askedAt.set(id, performance.now());
    for (const { smtp_config_id, company_id, campaign_id } of campaigns) {
      if (found.has(smtp_config_id)) continue;
      const error = configs.get(smtp_config_id)?.message ?? "The SMTP configuration was deleted.";
      await this.#context.stopCampaign(company_id, campaign_id, error);
    }
    return found;
  }

  tick(): void {
    const now = performance.now();
    let connections = 0;
    for (const transport of this.#transports.values()) connections += transport.connections.size;
    const { idleMs } = this.#context.settings;
    const idle = connections > MANY_CONNECTIONS ? Math.min(idleMs, MANY_CONNECTIONS_IDLE_MS) : idleMs;
    const reload = now > this.#reloadAt;
    if (reload) this.#reloadAt = now + RELOAD_MS;
    for (const [id, transport] of this.#transports) {
      if (transport.idle && now - (this.#askedAt.get(id) ?? 0) > UNUSED_MS) {
        this.#transports.delete(id);
        this.#askedAt.delete(id);
        void transport.close(0);
        continue;
      }
      transport.tick(idle);
      if (reload) void this.reload(id);
    }
  }

  async reload(smtpConfigId: string): Promise<void> {
    await this.#transports
      .get(smtpConfigId)
      ?.reload()
      .catch((error: Error) => this.#context.reportOutage(error));
  }

  async close(withinMs: number): Promise<void> {
    await Promise.all([...this.#transports.values()].map((transport) => transport.close(withinMs)));
  }
}
