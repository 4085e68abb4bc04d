/** The outermost layer: every answer leaves with an id, the security headers and, where something failed, a problem. */
import { notFound } from "../lib/errors.ts";
import { allowOtherSites } from "./cors.ts";
import { type Exchange, ipOf, type Next, requestIdOf } from "./exchange.ts";
import { prefersHtml, problemPage } from "./problem-page.ts";
import { type Problem, problemOf } from "./problems.ts";

export const STRICT_CSP = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// A client that still sends its body after the answer is heard to the end for this long, or it would get a reset
// connection instead of the answer.
const LINGER_MS = 10_000;

export interface EdgeOptions {
  trustedProxies: number;
  /** BASE_URL is https: browsers may be told to stay with it. */
  https: boolean;
  /** True while the process stops: connections are not kept. */
  draining: () => boolean;
  /** Told each request that failed by our own fault. */
  report: (error: unknown, exchange: Exchange) => void;
  /** Told each answer. */
  answered: (exchange: Exchange, seconds: number) => void;
}

function setHeaders(exchange: Exchange, options: EdgeOptions): void {
  const { res } = exchange;
  res.setHeader("X-Request-Id", exchange.state.requestId);
  res.setHeader("X-Content-Type-Options", "nosniff");
  res.setHeader("Referrer-Policy", "no-referrer");
  res.setHeader("X-Frame-Options", "DENY");
  res.setHeader("Content-Security-Policy", STRICT_CSP);
  res.setHeader("Cache-Control", "no-store");
  allowOtherSites(exchange);
  if (options.https) res.setHeader("Strict-Transport-Security", "max-age=31536000");
  if (options.draining()) res.setHeader("Connection", "close");
}

/** Reads on past the answer, bounded, where the body was not read to its end. */
function linger(exchange: Exchange): void {
  const { req, res } = exchange;
  if (req.complete) return;
  req.resume();
  res.once("finish", () => {
    if (req.complete || req.destroyed) return;
    const timer = setTimeout(() => req.socket.destroy(), LINGER_MS).unref();
    const over = () => clearTimeout(timer);
    req.once("end", over).once("close", over);
  });
}

function tell(exchange: Exchange, { status, body, headers }: Problem): void {
  exchange.status = status;
  exchange.set(headers);
  if (prefersHtml(exchange)) {
    exchange.type = "html";
    exchange.body = problemPage(status, body);
  } else {
    exchange.body = body;
  }
  linger(exchange);
}

export function edge(options: EdgeOptions) {
  return async (exchange: Exchange, next: Next): Promise<void> => {
    const startedMs = performance.now();
    exchange.state.requestId = requestIdOf(exchange);
    exchange.state.ip = ipOf(exchange, options.trustedProxies);
    setHeaders(exchange, options);
    try {
      await next();
      if (exchange.status === 404 && exchange.body === undefined) throw notFound();
    } catch (error) {
      const problem = problemOf(error, exchange.state.requestId);
      if (problem.internal) options.report(error, exchange);
      tell(exchange, problem);
    }
    options.answered(exchange, (performance.now() - startedMs) / 1_000);
  };
}
