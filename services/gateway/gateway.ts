/** Assembles the gateway from a broker and a configuration: the Koa application and its HTTP server. */
import Koa from "koa";
import type { ServiceBroker } from "moleculer";
import type { ActionContract } from "../define.ts";
import type { Config } from "../lib/config.ts";
import { httpAnswered } from "../lib/metrics.ts";
import { tracer } from "../lib/tracing/tracer.ts";
import { Authentication } from "./access/authentication.ts";
import { DailyQuota } from "./access/daily-quota.ts";
import { builtInPages } from "./built-in-pages.ts";
import { consolePages } from "./console-pages.ts";
import type { Context, State } from "./http/context.ts";
import { type ErrorHandlerOptions, errorHandler } from "./http/error-handler.ts";
import { notFound } from "./http/not-found.ts";
import { requestSpan } from "./http/request-span.ts";
import { ResourceRouter } from "./http/router.ts";
import { type HttpServer, listen } from "./http/server.ts";
import { bodyBudget, uploadBudgets } from "./http/shared-budget.ts";
import { ProgressStreams } from "./progress-streams.ts";
import { type ReadinessOptions, readiness } from "./readiness.ts";
import { type RouteDeps, routeHandler } from "./route-handler.ts";
import { TrackingHosts, trackingHostPages, trackingHosts } from "./tracking-hosts.ts";

const MAX_IMPORT_BYTES = 1024 ** 3;

export interface Gateway {
  url: string;
  authentication: Authentication;
  hosts: TrackingHosts;
  drain(): Promise<void>;
}

interface AppOptions extends ErrorHandlerOptions, RouteDeps, ReadinessOptions {
  name: string;
  hosts: TrackingHosts;
  contractOf: (action: string) => ActionContract;
}

/** Middleware in the order in which a request passes it. */
function buildApp(options: AppOptions): Koa<State> {
  const app = new Koa<State>();
  const router = new ResourceRouter();
  for (const [path, handler] of builtInPages(options)) router.add("GET", path, handler);
  router.add("GET", "/ready", readiness(options));
  for (const [path, handler] of trackingHostPages(options.hosts)) router.add("GET", path, handler);
  for (const route of options.routes) {
    router.add(route.method, route.path, routeHandler(route, options.contractOf(route.action), options));
  }
  // Called only for failures after the response has begun: a download whose source fails, a client that disconnected.
  app.on("error", (error, context) => options.reportDefect(error, context));
  if (tracer()) app.use(requestSpan);
  app.use(errorHandler(options));
  app.use(trackingHosts(options.hosts));
  app.use(consolePages(options));
  app.use(router.middleware());
  app.use(notFound(router));
  return app;
}

const CLIENT_LEFT = new Set(["ECONNRESET", "EPIPE", "ERR_STREAM_PREMATURE_CLOSE", "ECONNABORTED"]);

function defectLog(broker: ServiceBroker) {
  return (error: unknown, { method, state }: Context): void => {
    if (CLIENT_LEFT.has((error as NodeJS.ErrnoException).code ?? "")) return;
    broker.logger.error({ error, requestId: state.requestId, route: state.route }, `${method} ${state.route} failed`);
  };
}

/**
 * Logs each response that is not a success. Logs the route instead of the path and query, which may contain recipients'
 * tokens.
 */
function logProblem(broker: ServiceBroker, { method, status, state }: Context, durationMs: number): void {
  const { route = "none", requestId, companyId, reason } = state;
  const fields = { method, route, status, durationMs: Math.round(durationMs * 10) / 10, requestId, companyId, reason };
  broker.logger.info(fields, `${method} ${route} ${status}`);
}

type Table = Pick<AppOptions, "routes" | "contractOf" | "permissionOf"> & { settings: Config };

export async function openGateway(broker: ServiceBroker, table: Table): Promise<Gateway> {
  const { routes, contractOf, permissionOf, settings } = table;
  const authentication = new Authentication(broker);
  const streams = new ProgressStreams();
  const hosts = new TrackingHosts(broker, settings.BASE_URL);
  let draining = false;
  let server: HttpServer | undefined;
  const options: AppOptions = {
    routes,
    contractOf,
    permissionOf,
    broker,
    authentication,
    hosts,
    streams,
    quota: new DailyQuota(broker),
    bodyBudget: bodyBudget(),
    uploadBudgets: uploadBudgets(),
    name: settings.SERVICE_NAME,
    baseUrl: settings.BASE_URL,
    https: settings.BASE_URL.startsWith("https:"),
    trustedProxies: settings.TRUST_PROXY,
    maxUploadBytes: { media: settings.MAX_UPLOAD_BYTES, import: MAX_IMPORT_BYTES },
    draining: () => draining,
    isReady: async () => {
      const report = (await broker.call("$node.ready", {}, { nodeID: broker.nodeID })) as { ready: boolean };
      return report.ready;
    },
    reportDefect: defectLog(broker),
    onResponse: (context, durationMs) => {
      const { method, status, state } = context;
      httpAnswered(method, state.route, status, durationMs / 1_000);
      if (status >= 400) logProblem(broker, context, durationMs);
    },
  };
  server = await listen(
    buildApp(options).callback(),
    { host: settings.HOST, port: settings.PORT },
    settings.DRAIN_SECONDS * 1_000,
  );
  return {
    url: `http://127.0.0.1:${server.port}`,
    authentication,
    hosts,
    drain: async () => {
      draining = true;
      streams.close();
      await server?.drain();
    },
  };
}
