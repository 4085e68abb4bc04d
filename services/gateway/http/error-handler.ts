/** Outermost middleware: gives every response an id and the security headers, and turns errors into problems. */
import { badRequest, notFound } from "../../lib/errors.ts";
import { escapeHtml } from "../../lib/escape-html.ts";
import { type Context, ipOf, type Next, requestIdFrom } from "./context.ts";
import { ANY_SITE, isPublic } from "./cors.ts";
import { htmlPage } from "./html-page.ts";
import { type Problem, problemOf } from "./problems.ts";

const STRICT_CSP = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// How long to keep reading a body after the response is sent. Without reading, the client would get a connection reset
// instead of the response.
const LINGER_MS = 10_000;

interface HeaderOptions {
  /** True if BASE_URL is https: browsers are told to stay with it (HSTS). */
  https: boolean;
  /** True while the process stops: connections are closed after their response. */
  draining: () => boolean;
}

export interface ErrorHandlerOptions extends HeaderOptions {
  trustedProxies: number;
  /** Called for each request that failed because of a defect. */
  reportDefect: (error: unknown, context: Context) => void;
  /** Called after each request. */
  onResponse: (context: Context, durationMs: number) => void;
}

/** Headers of every response. */
function setHeaders(context: Context, { https, draining }: HeaderOptions): void {
  const headers = [
    "X-Request-Id",
    context.state.requestId,
    "X-Content-Type-Options",
    "nosniff",
    "Referrer-Policy",
    "no-referrer",
    "X-Frame-Options",
    "DENY",
    "Content-Security-Policy",
    STRICT_CSP,
    "Cache-Control",
    "no-store",
  ];
  if (isPublic(context)) headers.push(...ANY_SITE);
  if (https) headers.push("Strict-Transport-Security", "max-age=31536000");
  if (draining()) headers.push("Connection", "close");
  for (let at = 0; at < headers.length; at += 2) context.res.setHeader(headers[at]!, headers[at + 1]!);
}

/** Reads the rest of an unread body, for a bounded time. */
function linger(context: Context): void {
  const { req, res } = context;
  if (req.complete) return;
  req.resume();
  res.once("finish", () => {
    if (req.complete || req.destroyed) return;
    const timer = setTimeout(() => req.socket.destroy(), LINGER_MS).unref();
    const done = () => clearTimeout(timer);
    req.once("end", done).once("close", done);
  });
}

const PAGE_TITLES: Record<number, string> = {
  400: "This request cannot be understood",
  404: "This page does not exist",
  410: "This link has expired",
  429: "Too many requests",
  503: "Not available at the moment",
};

/** Only pages negotiate: an API path answers JSON whatever the browser accepts. */
export const prefersHtml = (context: Context): boolean =>
  /^\/(?:api\/emails\/public|app)\//.test(context.path) && context.accepts("json", "html") === "html";

/** A problem as a page, for people who followed a link in a mail. */
function problemPage(status: number, body: Record<string, unknown>): string {
  const title = PAGE_TITLES[status] ?? "Something went wrong";
  const said =
    typeof body.detail === "string"
      ? [body.detail]
      : Object.entries(body).map(([field, of]) => `${field}: ${[of].flat().join(" ")}`);
  return htmlPage(
    title,
    [`<h1>${escapeHtml(title)}</h1>`, ...said.map((text) => `<p>${escapeHtml(text)}</p>`)].join("\n"),
  );
}

function respond(context: Context, { status, body, headers, reason }: Problem): void {
  context.status = status;
  context.set(headers);
  context.state.reason = reason;
  if (prefersHtml(context)) {
    context.type = "html";
    context.body = problemPage(status, body);
  } else {
    context.body = body;
  }
  linger(context);
}

/**
 * Checks the request target and host (RFC 9112, section 3.2): HTTP/1.1 requires a host, and a target is a path or, in
 * requests to proxies, a URL, which is served by its path. Returns the error, if any; afterwards Koa can parse the
 * target.
 */
function readTarget({ req }: Context): Error | undefined {
  if (req.httpVersion === "1.1" && req.headers.host === undefined) return badRequest("The header Host is missing.");
  const target = req.url ?? "";
  if (target.startsWith("/") || target === "*") return undefined;
  const url = /^https?:/i.test(target) && URL.canParse(target) ? new URL(target) : undefined;
  req.url = url ? url.pathname + url.search : "/";
  return url ? undefined : badRequest("The request's target is not a valid address.");
}

export function errorHandler(options: ErrorHandlerOptions) {
  return async (context: Context, next: Next): Promise<void> => {
    const startedMs = performance.now();
    context.state.requestId = requestIdFrom(context.req);
    context.state.ip = ipOf(context, options.trustedProxies);
    const refusal = readTarget(context);
    setHeaders(context, options);
    try {
      if (refusal) throw refusal;
      await next();
      if (context.status === 404 && context.body === undefined) throw notFound();
    } catch (error) {
      const problem = problemOf(error, context.state.requestId);
      if (problem.internal) options.reportDefect(error, context);
      respond(context, problem);
    }
    options.onResponse(context, performance.now() - startedMs);
  };
}
