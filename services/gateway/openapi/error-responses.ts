/** Which errors an operation can answer with, and their bodies. */
import { type Route, routes } from "../routes.ts";

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
  Error: {
    type: "object",
    required: ["detail"],
    properties: { detail: text, code: text },
    examples: [{ detail: "Not found." }],
  },
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
const allow = { Allow: header("The methods that it knows.") };
const retryAfter = { "Retry-After": header("Seconds to wait.", integer) };

interface Response {
  description: string;
  headers: object;
  content: Record<string, object>;
}

function problem(description: string, schemas: string[], headers: object = {}): Response {
  const schema = schemas.length === 1 ? ref(schemas[0]!) : { anyOf: schemas.map(ref) };
  return {
    description,
    headers: { ...requestIdHeader, ...headers },
    content: { "application/json": { schema } },
  };
}

/** `/subscribers/bulk/` fits the path of a subscriber with that id, and is none. */
function isNamesake({ method, path }: Route): boolean {
  const pattern = new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`);
  const fixed = routes.filter((other) => !other.path.includes(":") && pattern.test(other.path)).map(({ path }) => path);
  return (
    path.includes(":") && fixed.some((at) => !routes.some((other) => other.path === at && other.method === method))
  );
}

type Applies = (route: Route) => boolean;
const always: Applies = () => true;
const authenticated: Applies = ({ access }) => access !== "public";
const charged: Applies = ({ access }) => access === "company" || access === "user";
const hasBody: Applies = ({ method, deleteBody }) =>
  method === "POST" || method === "PUT" || method === "PATCH" || deleteBody === true;
const sends: Applies = ({ path }) =>
  /^\/api\/emails\/(send\/(?!test\/)|drafts\/:id\/send\/|campaigns\/:id\/resend\/)/.test(path);
const namesSomething: Applies = ({ path, answer, access }) =>
  path.includes("/:") || answer === "list" || access !== "public";

/** Besides what an action refuses, what the HTTP server itself does before any route is known: 400, 408, 417, 431. */
const ERRORS: [status: number, applies: Applies, response: Response][] = [
  [400, (route) => hasBody(route) || authenticated(route), problem("The request is wrong.", ["FieldErrors", "Error"])],
  [400, (route) => !hasBody(route) && !authenticated(route), problem("The request is no valid HTTP.", ["Error"])],
  [
    401,
    (route) => authenticated(route) || route.throttle === "auth" || route.rawWith !== undefined,
    problem(
      "No credentials, or wrong, expired or deleted ones; `code` where a second factor is asked for.",
      ["Error"],
      {
        "WWW-Authenticate": header("How to authenticate."),
      },
    ),
  ],
  [
    403,
    (route) => authenticated(route) || route.throttle === "subscribe" || route.throttle === "auth",
    problem("Not allowed, or not in the plan.", ["Error", "FeatureNotAvailable"]),
  ],
  [404, namesSomething, problem("Not there, or not the caller's company's.", ["Error"])],
  [405, isNamesake, problem("The path is one of its own, which does not know this method.", ["Error"], allow)],
  [408, always, problem("The request took too long to arrive.", ["Error"])],
  [
    409,
    sends,
    problem("The Idempotency-Key was used with another body, or what is sent was changed at this moment.", ["Error"]),
  ],
  [410, ({ path, rawWith }) => path.includes("/:token") && !rawWith, problem("The link has expired.", ["Error"])],
  [413, hasBody, problem("The request is too large.", ["Error"])],
  [415, (route) => hasBody(route) && !route.anyBody, problem("The body's media type is not supported.", ["Error"])],
  [417, always, problem("The header Expect asks for what cannot be met.", ["Error"])],
  [
    429,
    (route) => authenticated(route) || route.throttle !== undefined,
    problem("Too many requests.", ["Error", "DailyQuotaExceeded", "SmtpRateLimited"], retryAfter),
  ],
  [431, always, problem("The request's headers are too large.", ["Error"])],
  [500, always, problem("Our fault; it is logged with the request's id.", ["InternalError"])],
  [503, always, problem("A part of the service is away for the moment.", ["Error"], retryAfter)],
];

type Variant = "Page" | "Charged" | "";

/** People who opened a link of a mail see a problem as a page; a call that was charged says what is left of the day. */
function variantOf(route: Route): Variant {
  if (route.path.startsWith("/api/emails/public/")) return "Page";
  return charged(route) ? "Charged" : "";
}

function shown(response: Response, variant: Variant): Response {
  const { headers, content } = response;
  if (variant === "Page") return { ...response, content: { ...content, "text/html": { schema: text } } };
  return variant === "Charged" ? { ...response, headers: { ...headers, ...rateLimitHeaders } } : response;
}

/** Two may share a status: the document for strangers says less of a 400. */
const nameOf = (index: number, variant: Variant) =>
  `Problem${ERRORS[index]![0]}${index === 1 ? "Stranger" : ""}${variant}`;

/** Referred to by the operations: written out in each of them they were half of the document. */
export const errorResponses: Record<string, object> = Object.fromEntries(
  ERRORS.flatMap(([, , response], index) =>
    (["", "Page", "Charged"] as const).map((variant) => [nameOf(index, variant), shown(response, variant)]),
  ),
);

export function errorsOf(route: Route): Record<string, object> {
  const variant = variantOf(route);
  return Object.fromEntries(
    ERRORS.flatMap(([status, applies], index) =>
      applies(route) ? [[status, { $ref: `#/components/responses/${nameOf(index, variant)}` }]] : [],
    ),
  );
}
