/**
 * The span of a request, where it is recorded: the first layer of all, so that everything of the request belongs to it. Its
 * name has the route as routes.ts spells it: paths hold the tokens of recipients, queries and headers may hold anything.
 */
import { runIn } from "../../lib/tracing/span.ts";
import { tracer } from "../../lib/tracing/tracer.ts";
import type { Context, Next } from "./context.ts";

/** Any other comes from outside, and is no word for a name. */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

export async function requestSpan(context: Context, next: Next): Promise<void> {
  const method = METHODS.has(context.method) ? context.method : "_OTHER";
  const start = { name: method, kind: "server" as const, attributes: { "http.request.method": method } };
  const span = tracer()?.beginRequest(start, context.req.headers.traceparent);
  if (!span) return next();
  await runIn(span, async () => {
    await next();
    const { route, companyId } = context.state;
    if (route) span.name = `${method} ${route}`;
    span.set({
      "http.route": route,
      "http.response.status_code": context.status,
      "flockmail.company_id": companyId,
    });
    if (context.status >= 500) span.fail(String(context.status));
  });
}
