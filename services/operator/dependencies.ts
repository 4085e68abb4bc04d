/** State, version and response time of the servers, as seen by the operator service's process. */
import type { ServiceBroker } from "moleculer";
import { askDatabase, queryOne } from "../../models/database/db.ts";
import type { ReturnsOf } from "../contracts.ts";
import { redis, redisServer, redisWorks } from "../lib/redis.ts";
import { withTimeout } from "../lib/timeouts.ts";

const TIMEOUT_MS = 1_000;

type Dependency = ReturnsOf<"operator.dependencies">[number];
type Description = Pick<Dependency, "version" | "detail">;

/** Measures `ask`, but not `describe`. */
async function measured(
  what: string,
  ask: () => Promise<unknown>,
  describe: () => Promise<Description>,
): Promise<Dependency> {
  const within = <T>(work: Promise<T>) => withTimeout(work, TIMEOUT_MS, () => new Error("no answer within a second"));
  try {
    const askedAtMs = performance.now();
    await within(ask());
    const latency_ms = Math.round((performance.now() - askedAtMs) * 10) / 10;
    return { what, state: "ok", latency_ms, ...(await within(describe())) };
  } catch (error) {
    return {
      what,
      state: "away",
      version: null,
      latency_ms: null,
      detail: (error as Error).message || "no connection",
    };
  }
}

const unused = (what: string, detail: string): Dependency => ({
  what,
  state: "unused",
  version: null,
  latency_ms: null,
  detail,
});

// pg_stat_activity also lists other users' sessions, without their statements.
const DATABASE = `
  select current_setting('server_version') as version, current_setting('max_connections')::int as most,
    (select count(*) from pg_stat_activity where backend_type = 'client backend') as connections`;

const database = () =>
  measured("PostgreSQL", askDatabase, async () => {
    const now = await queryOne<{ version: string; most: number; connections: number }>(DATABASE);
    return { version: now!.version, detail: `${now!.connections} of ${now!.most} connections` };
  });

function redisState(): Promise<Dependency> | Dependency {
  const client = redis();
  if (!client) return unused("Redis", "limits are counted in this process (REDIS_URL)");
  return measured(
    "Redis",
    () => redisWorks(client),
    async () => {
      const { name, warning } = await redisServer(client);
      return { version: name, detail: warning ?? "" };
    },
  );
}

interface NatsClient {
  rtt(): Promise<number>;
  info?: { version: string; server_name: string; max_payload: number };
  getServer(): string;
}

/** Undefined while disconnected, and if all services run in one process. */
export const natsClientOf = (broker: ServiceBroker): NatsClient | undefined =>
  (broker as unknown as { transit?: { tx: { client?: NatsClient } } }).transit?.tx.client;

function nats(broker: ServiceBroker): Promise<Dependency> | Dependency {
  if (!broker.transit) return unused("NATS", "all services are in one process (TRANSPORTER)");
  return measured(
    "NATS",
    async () => {
      const client = natsClientOf(broker);
      if (!client) throw new Error("not connected");
      await client.rtt();
    },
    async () => {
      const client = natsClientOf(broker);
      return { version: client?.info?.version ?? null, detail: client?.getServer() ?? "" };
    },
  );
}

export const dependencies = (broker: ServiceBroker): Promise<Dependency[]> =>
  Promise.all([database(), redisState(), nats(broker)]);
