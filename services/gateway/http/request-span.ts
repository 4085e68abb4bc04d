/**
 * The span of a request, where it is recorded: the first layer of all, so that everything of the request belongs to it. Its
 * name has the route as routes.ts spells it: paths hold the tokens of recipients, queries and headers may hold anything.
 */
import type { IncomingMessage } from "node:http";
import { runIn, type Span } from "../../lib/tracing/span.ts";
import { tracer } from "../../lib/tracing/tracer.ts";
import { arrivalOf } from "./arrival.ts";
import type { Context, Next } from "./context.ts";

/** Any other comes from outside, and is no word for a name. */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

export function beginRequestSpan({ method: given = "", headers }: IncomingMessage): Span | undefined {
  const by = tracer();
  if (!by) return undefined;
  const method = METHODS.has(given) ? given : "_OTHER";
  const start = { name: method, kind: "server" as const, attributes: { "http.request.method": method } };
  return by.beginRequest(start, headers.traceparent);
}

export async function requestSpan(context: Context, next: Next): Promise<void> {
  const arrival = arrivalOf(context.req);
  const span = arrival ? arrival.span : beginRequestSpan(context.req);
  if (!span) return next();
  await runIn(span, async () => {
    await next();
    const { route, companyId } = context.state;
    if (route) span.name = `${span.name} ${route}`;
    span.set({
      "http.route": route,
      "http.response.status_code": context.status,
      "flockmail.company_id": companyId,
    });
    if (context.status >= 500) span.fail(String(context.status));
  });
}
