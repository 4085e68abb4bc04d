/** Errors that an operation can answer: described once, referenced by the operations. */
import { type Route, routes } from "../routes.ts";
import { exampleOf } from "./error-schemas.ts";
import { allowHeader, authenticateHeader, rateLimitHeaders, requestIdHeader, retryAfterHeader } from "./headers.ts";

type Applies = (route: Route) => boolean;
const authenticated: Applies = ({ access }) => access !== "public";
const hasBody: Applies = ({ method, deleteBody }) =>
  method === "POST" || method === "PUT" || method === "PATCH" || deleteBody === true;
const sends: Applies = ({ path }) =>
  /^\/api\/emails\/(send\/(?!test\/|audience\/)|drafts\/:id\/send\/|campaigns\/:id\/resend\/)/.test(path);
/** True for operations with `unchanged_since`. */
const takesUnchangedSince: Applies = ({ path, method }) =>
  method === "PATCH" && ["/api/emails/templates/:id/", "/api/emails/drafts/:id/"].includes(path);
const namesSomething: Applies = ({ path, answer, access }) =>
  path.includes("/:") || answer === "list" || access !== "public";
const isPage: Applies = ({ path }) => path.startsWith("/api/emails/public/");

/** `/subscribers/bulk/` matches the path of a subscriber but is not one. */
function isBulkPath({ method, path }: Route): boolean {
  const pattern = new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`);
  const fixed = routes.filter((other) => !other.path.includes(":") && pattern.test(other.path)).map(({ path }) => path);
  return (
    path.includes(":") && fixed.some((at) => !routes.some((other) => other.path === at && other.method === method))
  );
}

interface Problem {
  status: number;
  name: string;
  applies: Applies;
  description: string;
  schemas: string[];
  headers?: object;
  /** Example sentences that replace the schema's example for this status. */
  sentences?: string[];
}

/** Errors that clients should handle: each is listed in the operation. */
const EXPECTED: readonly Problem[] = [
  {
    status: 400,
    name: "BadRequest",
    applies: (route) => hasBody(route) || authenticated(route) || route.answer === "html",
    description: "Invalid request: errors by field, or one sentence.",
    schemas: ["FieldErrors", "Error"],
    sentences: ["Only a scheduled campaign can be cancelled."],
  },
  {
    status: 401,
    name: "Unauthorized",
    applies: (route) => authenticated(route) || route.throttle === "auth" || route.rawWith !== undefined,
    description: "Missing, wrong, expired or deleted credentials; `code` if a second factor is required.",
    schemas: ["Error"],
    headers: authenticateHeader,
    sentences: ["Invalid API key."],
  },
  {
    status: 403,
    name: "Forbidden",
    applies: (route) => authenticated(route) || route.throttle === "subscribe" || route.throttle === "auth",
    description: "Not allowed, or not included in the plan.",
    schemas: ["Error", "FeatureNotAvailable"],
    sentences: ["You do not have permission to perform this action."],
  },
  {
    status: 404,
    name: "NotFound",
    applies: namesSomething,
    description: "Not found, or not in the caller's company.",
    schemas: ["Error"],
  },
  {
    status: 409,
    name: "Conflict",
    applies: (route) => sends(route) || takesUnchangedSince(route) || route.action === "renderer.removeSavedBlock",
    description: "The Idempotency-Key was used with another body, or the resource changed in the meantime.",
    schemas: ["Error"],
    sentences: ["This Idempotency-Key was used with another body."],
  },
  {
    status: 410,
    name: "Gone",
    applies: ({ path, rawWith }) => path.includes("/:token") && !rawWith,
    description: "The link has expired.",
    schemas: ["Error"],
    sentences: ["This link has expired."],
  },
  {
    status: 429,
    name: "TooManyRequests",
    applies: (route) => authenticated(route) || route.throttle !== undefined,
    description: "Too many requests, or a limit is used up; retry after `Retry-After`.",
    schemas: ["Error", "DailyQuotaExceeded", "SmtpRateLimited"],
    headers: retryAfterHeader,
    sentences: ["Request was throttled. Expected available in 12 seconds."],
  },
];

/** Errors that any operation may answer, combined in one `default` response. */
const COMMON_ERRORS: readonly [status: number, description: string, sentence: string][] = [
  [400, "invalid HTTP", "The request is not valid HTTP."],
  [405, "method not supported by the path; see `Allow`", 'Method "PUT" not allowed.'],
  [408, "the request took too long to arrive", "The request took too long."],
  [413, "the request is too large", "The request is too large."],
  [415, "the body's media type is not supported", "Unsupported media type."],
  [417, "unsupported Expect header", "Expectation failed."],
  [431, "the request's headers are too large", "The request's headers are too large."],
  [500, "internal error, logged with the request's id", ""],
  [503, "part of the service is unavailable; retry after `Retry-After`", "The service is temporarily unavailable."],
];

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const schemaOf = (names: readonly string[]) => (names.length === 1 ? ref(names[0]!) : { anyOf: names.map(ref) });

function contentOf(schemas: readonly string[], examples: object, page: boolean): object {
  const html = { schema: { type: "string" }, example: "<!doctype html><title>This link has expired</title>" };
  // People who opened a link in a mail get an HTML page.
  return {
    "application/json": { schema: schemaOf(schemas), examples },
    ...(page ? { "text/html": html } : {}),
  };
}

function response({ description, schemas, headers, sentences }: Problem, page: boolean): object {
  const examples = Object.fromEntries(
    schemas.map((name) => [
      name,
      { value: name === "Error" && sentences ? { detail: sentences[0] } : exampleOf(name) },
    ]),
  );
  return {
    description,
    headers: { ...requestIdHeader, ...(page ? {} : rateLimitHeaders), ...headers },
    content: contentOf(schemas, examples, page),
  };
}

function failure(page: boolean): object {
  const examples = Object.fromEntries(
    COMMON_ERRORS.map(([status, summary, sentence]) => [
      status,
      { summary, value: status === 500 ? exampleOf("InternalError") : { detail: sentence } },
    ]),
  );
  return {
    description: `Errors of any request: ${COMMON_ERRORS.map(([status, why]) => `${status} (${why})`).join(", ")}.`,
    headers: { ...requestIdHeader, ...allowHeader, ...retryAfterHeader },
    content: contentOf(["Error", "InternalError"], examples, page),
  };
}

const nameOf = (name: string, page: boolean) => (page ? `${name}Page` : name);

export const errorResponses: Record<string, object> = Object.fromEntries(
  [false, true].flatMap((page) => [
    ...EXPECTED.filter(({ applies }) => routes.some((route) => isPage(route) === page && applies(route))).map(
      (problem) => [nameOf(problem.name, page), response(problem, page)],
    ),
    [nameOf("Failure", page), failure(page)],
  ]),
);

/** The statuses that `default` covers for this operation. The test suite checks answers against it. */
export function defaultStatusesOf(route: Route): number[] {
  const refused: Record<number, boolean> = {
    400: !hasBody(route) && !authenticated(route),
    405: isBulkPath(route),
    413: hasBody(route),
    415: hasBody(route) && !route.anyBody,
  };
  return COMMON_ERRORS.map(([status]) => status).filter((status) => refused[status] ?? true);
}

export function errorsOf(route: Route): Record<string, object> {
  const page = isPage(route);
  const at = (name: string) => ({ $ref: `#/components/responses/${nameOf(name, page)}` });
  return {
    ...Object.fromEntries(
      EXPECTED.filter(({ applies }) => applies(route)).map(({ status, name }) => [status, at(name)]),
    ),
    default: at("Failure"),
  };
}
