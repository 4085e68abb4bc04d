/**
 * `GET /ready` on the API's port, for load balancers that ask no other: 200 or 503 and nothing else. What the health port
 * says in detail (mixins/health.middleware.ts) is looked up once a second, however many ask, and anybody may.
 */
import type { Context } from "./http/context.ts";
import type { RouteHandler } from "./http/router.ts";

const FRESH_MS = 1_000;

export interface ReadinessOptions {
  /** Whether the process reaches what it depends on. */
  isReady: () => Promise<boolean>;
  draining: () => boolean;
}

export function readiness({ isReady, draining }: ReadinessOptions): RouteHandler {
  let asked: { answer: Promise<boolean>; atMs: number } | undefined;
  const latest = (): Promise<boolean> => {
    const now = performance.now();
    if (!asked || now - asked.atMs > FRESH_MS) asked = { answer: isReady().catch(() => false), atMs: now };
    return asked.answer;
  };
  return async (context: Context) => {
    context.state.route = "/ready";
    const ready = !draining() && (await latest());
    context.status = ready ? 200 : 503;
    context.set("Cache-Control", "no-store");
    context.body = { ready };
  };
}
