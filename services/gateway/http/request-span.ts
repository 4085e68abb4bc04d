/**
 * Records the span of a request. Outermost layer, so that all work of the request belongs to the span. Named by the
 * route as spelled in routes.ts: paths contain recipients' tokens, queries and headers can contain anything.
 */
import type { IncomingMessage } from "node:http";
import { type Span, SpanKind } from "@opentelemetry/api";
import { fail, runIn } from "../../lib/tracing/span.ts";
import { tracer } from "../../lib/tracing/tracer.ts";
import type { Context, Next } from "./context.ts";

/** Other methods are client input and must not become span names. */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

const methodOf = ({ method = "" }: IncomingMessage) => (METHODS.has(method) ? method : "_OTHER");

function beginRequestSpan(request: IncomingMessage): Span | undefined {
  const requestTracer = tracer();
  if (!requestTracer) return undefined;
  const method = methodOf(request);
  const start = { name: method, kind: SpanKind.SERVER, attributes: { "http.request.method": method } };
  return requestTracer.beginRequest(start, request.headers.traceparent);
}

export async function requestSpan(context: Context, next: Next): Promise<void> {
  const span = beginRequestSpan(context.req);
  if (!span) return next();
  await runIn(span, async () => {
    await next();
    const { route, companyId } = context.state;
    if (route) span.updateName(`${methodOf(context.req)} ${route}`);
    span.setAttributes({
      "http.route": route,
      "http.response.status_code": context.status,
      "flockmail.company_id": companyId,
    });
    if (context.status >= 500) fail(span, String(context.status));
  });
}
