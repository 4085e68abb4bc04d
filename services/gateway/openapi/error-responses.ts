/** Which errors an operation can answer with, and their bodies. */
import type { Route } from "../routes.ts";

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const text = { type: "string" };
const integer = { type: "integer" };

function structured(code: string, properties: Record<string, object>): object {
  const detail = { code: { const: code }, message: text, ...properties };
  return {
    type: "object",
    required: ["detail"],
    properties: { detail: { type: "object", required: Object.keys(detail), properties: detail } },
  };
}

export const errorSchemas: Record<string, object> = {
  Error: { type: "object", required: ["detail"], properties: { detail: text }, examples: [{ detail: "Not found." }] },
  FieldErrors: {
    type: "object",
    description: "Every fault of the request, by field.",
    additionalProperties: { type: "array", items: text, minItems: 1 },
    minProperties: 1,
    examples: [{ email: ["Enter a valid email address."], name: ["This field is required."] }],
  },
  FeatureNotAvailable: structured("feature_not_available", { feature: text, package: text }),
  DailyQuotaExceeded: structured("rate_limit_exceeded", { limit: integer, current: integer }),
  SmtpRateLimited: structured("smtp_rate_limited", { limit_type: { enum: ["hourly"] } }),
  InternalError: {
    type: "object",
    required: ["detail", "request_id"],
    properties: { detail: text, request_id: text },
  },
};

const header = (description: string, schema: object = text) => ({ description, schema });
export const requestIdHeader = { "X-Request-Id": header("The request's id, as in the service's log.") };
export const rateLimitHeaders = {
  "X-RateLimit-Limit": header("API calls per day; absent where the plan has no limit.", integer),
  "X-RateLimit-Remaining": header("Calls left today (UTC).", integer),
  "X-RateLimit-Reset": header("When the count starts anew, in seconds since 1970.", integer),
};
const retryAfter = { "Retry-After": header("Seconds to wait.", integer) };

function problem(description: string, schemas: string[], headers: object = {}) {
  const schema = schemas.length === 1 ? ref(schemas[0]!) : { anyOf: schemas.map(ref) };
  return {
    description,
    headers: { ...requestIdHeader, ...headers },
    content: { "application/json": { schema } },
  };
}

type Applies = (route: Route) => boolean;
const always: Applies = () => true;
const authenticated: Applies = ({ access }) => access !== "public";
const hasBody: Applies = ({ method }) => method === "POST" || method === "PUT" || method === "PATCH";
const sends: Applies = ({ path }) => path.startsWith("/api/emails/send/");
const namesSomething: Applies = ({ path, answer, access }) =>
  path.includes("/:") || answer === "list" || access !== "public";

const ERRORS: [status: number, applies: Applies, response: ReturnType<typeof problem>][] = [
  [400, (route) => hasBody(route) || authenticated(route), problem("The request is wrong.", ["FieldErrors", "Error"])],
  [
    401,
    (route) => authenticated(route) || route.throttle === "auth",
    problem("No credentials, or wrong, expired or deleted ones.", ["Error"], {
      "WWW-Authenticate": header("How to authenticate."),
    }),
  ],
  [
    403,
    (route) => authenticated(route) || route.throttle === "subscribe",
    problem("Not allowed, or not in the plan.", ["Error", "FeatureNotAvailable"]),
  ],
  [404, namesSomething, problem("Not there, or not the caller's company's.", ["Error"])],
  [408, hasBody, problem("The request took too long to arrive.", ["Error"])],
  [409, sends, problem("The Idempotency-Key was used with another body.", ["Error"])],
  [410, ({ path }) => path.includes("/:token"), problem("The link has expired.", ["Error"])],
  [413, hasBody, problem("The request is too large.", ["Error"])],
  [415, (route) => hasBody(route) && !route.anyBody, problem("The body's media type is not supported.", ["Error"])],
  [
    429,
    (route) => authenticated(route) || route.throttle !== undefined,
    problem("Too many requests.", ["Error", "DailyQuotaExceeded", "SmtpRateLimited"], retryAfter),
  ],
  [500, always, problem("Our fault; it is logged with the request's id.", ["InternalError"])],
  [503, always, problem("A part of the service is away for the moment.", ["Error"], retryAfter)],
];

/** People who opened a link of a mail see a problem as a page. */
const asPage = (response: ReturnType<typeof problem>) => ({
  ...response,
  content: { ...response.content, "text/html": { schema: text } },
});

export function errorsOf(route: Route): Record<string, object> {
  const isPublic = route.path.startsWith("/api/emails/public/");
  const all = ERRORS.filter(([, applies]) => applies(route));
  return Object.fromEntries(all.map(([status, , response]) => [status, isPublic ? asPage(response) : response]));
}
