/** Puts the gateway's parts together over a broker and a configuration. */
import type { ServiceBroker } from "moleculer";
import type { Config } from "../lib/config.ts";
import { httpAnswered } from "../lib/metrics.ts";
import type { AppOptions } from "./app.ts";
import { buildApp } from "./app.ts";
import { Authentication } from "./auth.ts";
import type { Exchange } from "./exchange.ts";
import { DailyQuota } from "./quota.ts";
import { type HttpServer, listen } from "./server.ts";

const MAX_IMPORT_BYTES = 1024 ** 3;

export interface Gateway {
  url: string;
  authentication: Authentication;
  drain(): Promise<void>;
}

type Table = Pick<AppOptions, "routes" | "contractOf"> & { settings: Config };

const leftBehind = new Set(["ECONNRESET", "EPIPE", "ERR_STREAM_PREMATURE_CLOSE", "ECONNABORTED"]);

function reporter(broker: ServiceBroker) {
  return (error: unknown, exchange: Exchange): void => {
    // A client that goes away is no fault of anybody.
    if (leftBehind.has((error as NodeJS.ErrnoException).code ?? "")) return;
    const { method, state } = exchange;
    broker.logger.error({ error, requestId: state.requestId, route: state.route }, `${method} ${state.route} failed`);
  };
}

export async function openGateway(broker: ServiceBroker, { routes, contractOf, settings }: Table): Promise<Gateway> {
  const authentication = new Authentication(broker);
  let draining = false;
  let server: HttpServer | undefined;
  const app = buildApp({
    routes,
    contractOf,
    broker,
    authentication,
    quota: new DailyQuota(broker),
    baseUrl: settings.BASE_URL,
    https: settings.BASE_URL.startsWith("https:"),
    trustedProxies: settings.TRUST_PROXY,
    maxUploadBytes: { media: settings.MAX_UPLOAD_BYTES, import: MAX_IMPORT_BYTES },
    draining: () => draining,
    report: reporter(broker),
    answered: ({ method, status, state }, seconds) => httpAnswered(method, state.route, status, seconds),
  });
  server = await listen(app.callback(), settings.PORT);
  return {
    url: `http://127.0.0.1:${server.port}`,
    authentication,
    drain: async () => {
      draining = true;
      await server?.drain();
    },
  };
}
