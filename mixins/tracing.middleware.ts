/**
 * Broker middleware: a span for each action and event that runs on behalf of a recorded trace, on whichever node that
 * is. The trace travels in the headers of calls and events, not in `meta`: a header stays with its call, what is in
 * `meta` goes on with all that follows and comes back with the answer. Without a collector none of the hooks is there.
 *
 * Moleculer's own tracing is not used: its traces are named by request ids, which callers choose, and it has no decision
 * that all nodes share.
 */
import { SpanKind } from "@opentelemetry/api";
import type { BrokerOptions, Middleware, ServiceBroker } from "moleculer";
import type { Config } from "../services/lib/config.ts";
import { parseOtlpHeaders } from "../services/lib/tracing/otlp-headers.ts";
import { activeTraceparent, runIn } from "../services/lib/tracing/span.ts";
import { readTraceparent } from "../services/lib/tracing/trace-context.ts";
import { setTracer, tracer } from "../services/lib/tracing/tracer.ts";
import { VERSION } from "../services/lib/version.ts";

const HEADER = "traceparent";

interface CtxLike {
  headers?: Record<string, unknown>;
  meta?: { companyId?: string };
  nodeID?: string | null;
  eventName?: string;
}
type Handler = (ctx: CtxLike) => Promise<unknown>;
interface Sending {
  headers?: Record<string, unknown>;
  groups?: string | string[];
}
/** Options of an event, possibly just its groups. */
type Options = Sending | string | string[] | null | undefined;
type Say = (name: string, payload: unknown, options?: Options) => unknown;

/** Adds the active span to calls and events; those without one are unchanged. */
function marked(options: Options): Options {
  const traceparent = activeTraceparent();
  if (traceparent === undefined) return options;
  const isGroups = typeof options === "string" || Array.isArray(options);
  const given: Sending = isGroups ? { groups: options } : (options ?? {});
  return { ...given, headers: { ...given.headers, [HEADER]: traceparent } };
}

const marking =
  (next: Say): Say =>
  (name, payload, options) =>
    next(name, payload, marked(options));

const traced =
  (next: Handler, nameOf: (ctx: CtxLike) => string, kind: SpanKind): Handler =>
  (ctx) => {
    const parent = ctx.headers && readTraceparent(ctx.headers[HEADER]);
    const recorder = tracer();
    if (!parent || !recorder) return next(ctx);
    const name = nameOf(ctx);
    const attributes = { "rpc.system": "moleculer", "rpc.method": name, "flockmail.company_id": ctx.meta?.companyId };
    return runIn(recorder.begin({ name, kind, parent, attributes }), () => next(ctx));
  };

const hooks = {
  call: marking,
  emit: marking,
  broadcast: marking,
  localAction: (next: Handler, { name }: { name: string }): Handler => traced(next, () => name, SpanKind.SERVER),
  localEvent: (next: Handler, { name }: { name: string }): Handler =>
    traced(next, ({ eventName }) => eventName ?? name, SpanKind.CONSUMER),
};

export function tracing(settings: Config): NonNullable<BrokerOptions["middlewares"]>[number] {
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = settings;
  if (!endpoint) return { name: "Tracing" } as Middleware;
  let close = async () => {};
  return {
    name: "Tracing",
    ...hooks,

    async starting(broker: ServiceBroker) {
      const { openTracer } = await import("../services/lib/tracing/open-tracer.ts");
      const collector = {
        url: `${endpoint}/v1/traces`,
        headers: parseOtlpHeaders(settings.OTEL_EXPORTER_OTLP_HEADERS ?? "") ?? {},
        resource: {
          "service.name": settings.OTEL_SERVICE_NAME,
          "service.version": VERSION,
          "service.instance.id": broker.nodeID,
        },
      };
      const opened = openTracer(collector, broker.logger, { ratio: settings.OTEL_TRACES_SAMPLER_ARG });
      setTracer(opened.tracer);
      close = opened.close;
    },

    // Runs last in a stop, to send all finished spans. Two SIGTERMs run it twice.
    async stopped() {
      setTracer(undefined);
      await close();
    },
  } as unknown as Middleware;
}
