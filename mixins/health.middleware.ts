/**
 * Broker middleware: /live, /ready and /metrics on a port of their own. /ready checks each dependency, and is false
 * while the process starts or drains, so that load balancers stop sending requests before it stops listening. In a
 * cluster a process counts as starting until it has seen each service that it calls (`metadata.calls`), or for five
 * seconds. Operators' consoles read the same from every node through the broker: `$node.ready`.
 */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { BrokerOptions, Context, Middleware, ServiceBroker } from "moleculer";
import { askDatabase } from "../models/database/db.ts";
import type { Config } from "../services/lib/config.ts";
import { forgetRefreshed, gauge, readMetrics, refreshed } from "../services/lib/metrics.ts";
import { type Vitals, vitals } from "../services/lib/processes/vitals.ts";
import { redis, redisWorks } from "../services/lib/redis.ts";
import { withTimeout } from "../services/lib/timeouts.ts";

const CHECK_TIMEOUT_MS = 1_000;
/** Services of the cluster; a cluster may run without some of them. */
const ANSWER_WITHIN_MS = 5_000;
const LISTEN_EVERY_MS = 50;

type State = "starting" | "started" | "draining";
type Reachable = "ok" | "away" | "unused";

interface HealthReport {
  ready: boolean;
  state: State;
  database: Reachable;
  redis: Reachable;
  nats: Reachable;
  /** Reason why Redis is considered unavailable. */
  redis_error?: string;
}

/** Response time of each in milliseconds; null for those that did not answer. */
type Latency = Record<"database" | "redis" | "nats", number | null>;

export interface NodeReport extends HealthReport {
  latency_ms: Latency;
  services: string[];
  pid: number;
  uptime_seconds: number;
  memory_bytes: number;
  /** Present, like the next, if requested (`vitals`). */
  vitals?: Vitals;
  /** DATABASE_POOL of the node. */
  database_pool?: number;
}

interface Answered {
  state: Reachable;
  ms: number | null;
}

async function answers(question: Promise<unknown> | undefined): Promise<Answered> {
  if (!question) return { state: "unused", ms: null };
  const askedAtMs = performance.now();
  return withTimeout(question, CHECK_TIMEOUT_MS, () => new Error("no answer")).then(
    (): Answered => ({ state: "ok", ms: Math.round((performance.now() - askedAtMs) * 10) / 10 }),
    (): Answered => ({ state: "away", ms: null }),
  );
}

/** Moleculer's transit says "connected" all through an outage; only a round trip shows one. */
function measureRoundTrip(broker: ServiceBroker): Promise<number> | undefined {
  const { transit } = broker as unknown as { transit?: { tx: { client?: { rtt(): Promise<number> } } } };
  if (!transit) return undefined;
  return transit.tx.client?.rtt() ?? Promise.reject(new Error("not connected"));
}

async function measuredHealth(broker: ServiceBroker, state: State): Promise<[HealthReport, Latency]> {
  const client = redis();
  let redisError: string | undefined;
  const works = client && redisWorks(client);
  works?.catch((error: Error) => {
    redisError = error.message || "no connection";
  });
  const [database, redisAnswer, nats] = await Promise.all([
    answers(askDatabase()),
    answers(works),
    answers(measureRoundTrip(broker)),
  ]);
  // The node stays ready without Redis: limits are then counted per process, and the health report says so.
  const ready = state === "started" && database.state === "ok" && nats.state !== "away";
  const reason = redisAnswer.state === "away" ? { redis_error: redisError ?? "no answer" } : {};
  return [
    { ready, state, database: database.state, redis: redisAnswer.state, nats: nats.state, ...reason },
    { database: database.ms, redis: redisAnswer.ms, nats: nats.ms },
  ];
}

const healthReport = async (broker: ServiceBroker, state: State): Promise<HealthReport> =>
  (await measuredHealth(broker, state))[0];

const DEPENDENCIES = ["database", "redis", "nats"] as const;
const METRIC = "flockmail_dependency_up";

/** /ready stays true without Redis, so that an alert needs another sign of it. */
function exportDependencies(report: () => Promise<HealthReport>): void {
  const latest = refreshed(METRIC, report);
  gauge(METRIC, "Whether this process can reach its dependencies: 1 or 0.", () => {
    const now = latest();
    if (!now) return [];
    const used = DEPENDENCIES.filter((dependency) => now[dependency] !== "unused");
    return used.map((dependency) => [{ dependency }, now[dependency] === "ok" ? 1 : 0]);
  });
}

function healthServer(report: () => Promise<HealthReport>): Server {
  return createServer({ headersTimeout: 5_000, requestTimeout: 5_000 }, async (request, response) => {
    const send = (status: number, type: string, body: string) =>
      response.writeHead(status, { "Content-Type": type, "Cache-Control": "no-store", Connection: "close" }).end(body);
    switch (request.url) {
      case "/live":
        return send(200, "application/json", '{"live":true}');
      case "/ready": {
        const now = await report();
        return send(now.ready ? 200 : 503, "application/json", JSON.stringify(now));
      }
      case "/metrics":
        return send(200, "text/plain; version=0.0.4; charset=utf-8", await readMetrics());
      default:
        return send(404, "application/json", '{"detail":"Not found."}');
    }
  });
}

async function listen(server: Server, host: string, port: number): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, "listening");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const taken = `port ${port} is taken by another program; choose one with HEALTH_PORT=…`;
    throw new Error(code === "EADDRINUSE" ? taken : message);
  }
}

const userServices = (broker: ServiceBroker) => broker.services.filter(({ name }) => !name.startsWith("$"));

/** Services called by this node's services. */
const calledServices = (broker: ServiceBroker): string[] =>
  userServices(broker).flatMap(({ metadata }) => (metadata.calls as string[] | undefined) ?? []);

/** The middleware and the action `$node.ready` of one broker. */
export function health(config: Config): {
  middleware: Middleware;
  internalServices: NonNullable<BrokerOptions["internalServices"]>;
} {
  let server: Server | undefined;
  let hasStarted = false;
  let isWaiting = false;

  const stateOf = (broker: ServiceBroker): State => {
    // `started` is false from the first moment of a stop on, before any hook of it runs.
    if (!broker.started) return hasStarted ? "draining" : "starting";
    return isWaiting ? "starting" : "started";
  };

  const middleware = {
    name: "Health",

    async starting(broker: ServiceBroker) {
      // An operator's console has no services and no health to report.
      if (userServices(broker).length === 0) return;
      const report = () => healthReport(broker, stateOf(broker));
      server = healthServer(report);
      await listen(server, config.HOST, config.HEALTH_PORT);
      exportDependencies(report);
    },

    async started(broker: ServiceBroker) {
      hasStarted = true;
      if (!broker.options.transporter) return;
      isWaiting = true;
      const heard = broker.waitForServices(calledServices(broker), ANSWER_WITHIN_MS, LISTEN_EVERY_MS);
      // Not awaited: other nodes wait for this one.
      void heard
        .catch(() => {})
        .finally(() => {
          isWaiting = false;
        });
    },

    // Two SIGTERMs run every `stopped` twice.
    async stopped() {
      forgetRefreshed(METRIC);
      const closing = server;
      server = undefined;
      if (!closing?.listening) return;
      closing.close();
      closing.closeAllConnections();
      await once(closing, "close");
    },
  };

  async function ready(this: { broker: ServiceBroker }, ctx: Context<{ vitals?: boolean }>): Promise<NodeReport> {
    const [report, latency_ms] = await measuredHealth(this.broker, stateOf(this.broker));
    return {
      ...report,
      latency_ms,
      services: userServices(this.broker).map(({ name }) => name),
      pid: process.pid,
      uptime_seconds: Math.round(process.uptime()),
      memory_bytes: process.memoryUsage.rss(),
      ...(ctx.params.vitals ? { vitals: vitals(), database_pool: config.DATABASE_POOL } : {}),
    };
  }

  return {
    middleware: middleware as Middleware,
    internalServices: { $node: { name: "$node", actions: { ready } } } as never,
  };
}
