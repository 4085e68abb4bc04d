/**
 * Broker middleware: /live, /ready and /metrics on a port of their own. /ready tells the truth about each dependency, and
 * is false while the process starts or drains, so that load balancers turn away before it stops listening.
 */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Middleware, ServiceBroker } from "moleculer";
import { query } from "../models/database/db.ts";
import type { Config } from "../services/lib/config.ts";
import { forgetRefreshed, gauge, readMetrics, refreshed } from "../services/lib/metrics.ts";
import { redis } from "../services/lib/redis.ts";

const CHECK_TIMEOUT_MS = 1_000;

type State = "starting" | "started" | "draining";
type Verdict = "ok" | "away" | "unused";

export interface Report {
  ready: boolean;
  state: State;
  database: Verdict;
  redis: Verdict;
  nats: Verdict;
}

async function answers(question: Promise<unknown> | undefined): Promise<Verdict> {
  if (!question) return "unused";
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise((_, reject) => {
    timer = setTimeout(reject, CHECK_TIMEOUT_MS, new Error("no answer"));
  });
  return Promise.race([question, tooLate])
    .then((): Verdict => "ok")
    .catch((): Verdict => "away")
    .finally(() => clearTimeout(timer));
}

/** Moleculer's transit says "connected" all through an outage; only a round trip tells. */
function roundTrip(broker: ServiceBroker): Promise<number> | undefined {
  const { transit } = broker as unknown as { transit?: { tx: { client?: { rtt(): Promise<number> } } } };
  if (!transit) return undefined;
  return transit.tx.client?.rtt() ?? Promise.reject(new Error("not connected"));
}

const onceStarted = new WeakSet<ServiceBroker>();

/** The broker tells of its stop before the first hook of it runs: earlier than a hook of ours could. */
function stateOf(broker: ServiceBroker): State {
  if (broker.started) return "started";
  return onceStarted.has(broker) ? "draining" : "starting";
}

export async function report(broker: ServiceBroker): Promise<Report> {
  const state = stateOf(broker);
  const [database, redisVerdict, nats] = await Promise.all([
    answers((async () => query("select 1"))()),
    answers(redis()?.ping()),
    answers(roundTrip(broker)),
  ]);
  // Without Redis the API goes on (limits are counted per process), so it is told, but turns nobody away.
  const ready = state === "started" && database === "ok" && nats !== "away";
  return { ready, state, database, redis: redisVerdict, nats };
}

const DEPENDENCIES = ["database", "redis", "nats"] as const;
const METRIC = "flockmail_dependency_up";

/** /ready stays true without Redis, so that an alert needs another sign of it. */
function showDependencies(broker: ServiceBroker): void {
  const told = refreshed(METRIC, () => report(broker));
  gauge(METRIC, "Whether this process reaches what it depends on: 1, or 0.", () => {
    const now = told();
    if (!now) return [];
    const used = DEPENDENCIES.filter((dependency) => now[dependency] !== "unused");
    return used.map((dependency) => [{ dependency }, now[dependency] === "ok" ? 1 : 0]);
  });
}

function serve(broker: ServiceBroker): Server {
  return createServer({ headersTimeout: 5_000, requestTimeout: 5_000 }, async (request, response) => {
    const send = (status: number, type: string, body: string) =>
      response.writeHead(status, { "Content-Type": type, "Cache-Control": "no-store", Connection: "close" }).end(body);
    switch (request.url) {
      case "/live":
        return send(200, "application/json", '{"live":true}');
      case "/ready": {
        const told = await report(broker);
        return send(told.ready ? 200 : 503, "application/json", JSON.stringify(told));
      }
      case "/metrics":
        return send(200, "text/plain; version=0.0.4; charset=utf-8", await readMetrics());
      default:
        return send(404, "application/json", '{"detail":"Not found."}');
    }
  });
}

let listening: AddressInfo | undefined;

/** Where the process tells its health; with HEALTH_PORT 0, only this knows. */
export const healthPort = (): number | undefined => listening?.port;

export function health(config: Config): Middleware {
  let server: Server | undefined;

  return {
    name: "Health",

    async starting(broker: ServiceBroker) {
      // An operator's console has no services (but Moleculer's own) and no health to tell.
      if (broker.services.length <= 1) return;
      server = serve(broker).listen(config.HEALTH_PORT);
      try {
        await once(server, "listening");
      } catch (error) {
        const { code, message } = error as NodeJS.ErrnoException;
        const taken = `port ${config.HEALTH_PORT} is taken by another program; choose one with HEALTH_PORT=…`;
        throw new Error(code === "EADDRINUSE" ? taken : message);
      }
      listening = server.address() as AddressInfo;
      showDependencies(broker);
    },

    async started(broker: ServiceBroker) {
      onceStarted.add(broker);
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
  } as Middleware;
}
