/** Outermost middleware: gives every response an id and the security headers, and turns errors into problems. */
import { badRequest, notFound } from "../../lib/errors.ts";
import { escapeHtml } from "../../lib/escape-html.ts";
import { type Catalogue, en } from "../../lib/i18n/en.ts";
import { catalogueFor } from "../../lib/i18n/languages.ts";
import { PAGE_CSP, PAGE_CSS } from "../../lib/page-style/page-style.ts";
import { type Context, ipOf, type Next, requestIdFrom } from "./context.ts";
import { ANY_SITE, isPublic } from "./cors.ts";
import { htmlPage } from "./html-page.ts";
import { type Problem, problemOf } from "./problems.ts";

const STRICT_CSP = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// Time to keep reading a body after the response is sent. Without reading, the client would get a connection reset
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
    const stopTimer = () => clearTimeout(timer);
    req.once("end", stopTimer).once("close", stopTimer);
  });
}

/** Returns whether to answer in HTML. Only pages negotiate: an API path answers JSON whatever the browser accepts. */
export const prefersHtml = (context: Context): boolean =>
  /^\/(?:api\/emails\/public|app)\//.test(context.path) && context.accepts("json", "html") === "html";

function wordsFor(status: number, { problem: t }: Catalogue): [title: string, sentence: string] {
  if (status === 404) return [t.missingTitle, t.missing];
  if (status === 410) return [t.expiredTitle, t.expired];
  return status === 429 || status === 503 ? [t.busyTitle, t.busy] : [t.wrongTitle, t.wrong];
}

const detailsOf = (body: Record<string, unknown>): string[] =>
  typeof body.detail === "string"
    ? [body.detail]
    : Object.entries(body).map(([field, of]) => `${field}: ${[of].flat().join(" ")}`);

/** Statuses that the page explains itself. For others it shows the API's error, in English. */
const EXPLAINED = new Set([404, 410, 429, 503]);

/** A problem as a page: on public pages in the reader's language. */
function respondWithPage(context: Context, status: number, body: Record<string, unknown>): void {
  const onPublicPage = isPublic(context);
  const language = onPublicPage ? catalogueFor(context.get("Accept-Language")) : en;
  const [title, sentence] = wordsFor(status, language);
  const details = onPublicPage && EXPLAINED.has(status) ? [] : detailsOf(body);
  const main = [
    `<h1>${escapeHtml(title)}</h1>`,
    ...(onPublicPage ? [`<p>${escapeHtml(sentence)}</p>`] : []),
    ...details.map((text) => `<p lang="en" dir="ltr">${escapeHtml(text)}</p>`),
  ];
  context.vary("Accept-Language");
  context.set({ "Content-Language": language.code, "Content-Security-Policy": PAGE_CSP });
  context.type = "html";
  context.body = htmlPage(title, main.join("\n"), { style: PAGE_CSS, language });
}

function respond(context: Context, { status, body, headers, reason }: Problem): void {
  context.status = status;
  context.set(headers);
  context.state.reason = reason;
  if (prefersHtml(context)) {
    respondWithPage(context, status, body);
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
