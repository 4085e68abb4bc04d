/** Manages a node's servers, one per SMTP configuration in use: created at the first claim, dropped when idle. */
import { performance } from "node:perf_hooks";
import { readTransportConfigs, UnreadablePassword } from "../configs/transport-config.ts";
import type { Batch } from "../delivery/batch.ts";
import type { ClaimableCampaign } from "../delivery/rows.ts";
import type { EngineContext } from "../engine/context.ts";
import { Server } from "./server.ts";

/** Reload interval, in case the event about a changed configuration is lost. */
const RELOAD_MS = 15_000;
/**
 * Above this number of connections idle ones are closed soon: thousands of companies that send little would otherwise
 * keep theirs.
 */
const MANY_CONNECTIONS = 400;
const MANY_CONNECTIONS_IDLE_MS = 500;
/**
 * A server that was just requested has no batch yet, because its lease is being taken. Dropping it now would leave the
 * lease hanging.
 */
const UNUSED_MS = 10_000;

export class Servers {
  #context: EngineContext;
  #servers = new Map<string, Server>();
  #reloadAt = performance.now() + RELOAD_MS;
  #askedAt = new Map<string, number>();

  constructor(context: EngineContext) {
    this.#context = context;
  }

  get all(): Iterable<Server> {
    return this.#servers.values();
  }

  get(smtpConfigId: string): Server | undefined {
    return this.#servers.get(smtpConfigId);
  }

  *batches(): Generator<Batch> {
    for (const server of this.#servers.values()) yield* server.batches;
  }

  /**
   * The servers for these campaigns, by configuration id; new configurations are read in one statement. A campaign
   * whose configuration was deleted or is unreadable is stopped, and its server is missing.
   */
  async forCampaigns(campaigns: readonly ClaimableCampaign[]): Promise<Map<string, Server>> {
    const found = new Map<string, Server>();
    const wanted = new Map<string, { id: string; companyId: string }>();
    for (const { smtp_config_id: id, company_id: companyId } of campaigns) {
      const server = this.#servers.get(id);
      if (!server || server.deleted) wanted.set(id, { id, companyId });
      else found.set(id, server);
    }
    const configs = wanted.size === 0 ? new Map() : await readTransportConfigs([...wanted.values()]);
    for (const [id, config] of configs) {
      if (config instanceof UnreadablePassword) continue;
      const server = this.#servers.get(id) ?? new Server(this.#context, config);
      this.#servers.set(id, server);
      found.set(id, server);
    }
    for (const id of found.keys()) this.#askedAt.set(id, performance.now());
    for (const { smtp_config_id, company_id, campaign_id } of campaigns) {
      if (found.has(smtp_config_id)) continue;
      const error = configs.get(smtp_config_id)?.message ?? "The SMTP configuration was deleted.";
      await this.#context.stops.stop(company_id, campaign_id, error);
    }
    return found;
  }

  tick(): void {
    const now = performance.now();
    let connections = 0;
    for (const server of this.#servers.values()) connections += server.connections.size;
    const { idleMs } = this.#context.settings;
    const idle = connections > MANY_CONNECTIONS ? Math.min(idleMs, MANY_CONNECTIONS_IDLE_MS) : idleMs;
    const reload = now > this.#reloadAt;
    if (reload) this.#reloadAt = now + RELOAD_MS;
    for (const [id, server] of this.#servers) {
      if (server.idle && now - (this.#askedAt.get(id) ?? 0) > UNUSED_MS) {
        this.#servers.delete(id);
        this.#askedAt.delete(id);
        void server.close(0);
        continue;
      }
      server.tick(idle);
      if (reload) void this.reload(id);
    }
  }

  async reload(smtpConfigId: string): Promise<void> {
    await this.#servers
      .get(smtpConfigId)
      ?.reload()
      .catch((error: Error) => this.#context.outage.report(error));
  }

  async close(withinMs: number): Promise<void> {
    await Promise.all([...this.#servers.values()].map((server) => server.close(withinMs)));
  }
}
