/**
 * Serves `GET /ready` on the API's port for load balancers: only 200 or 503. The details of the health port
 * (mixins/health.middleware.ts) are cached for a second, because anybody may ask.
 */
import { TtlCache } from "../lib/ttl-cache.ts";
import type { Context } from "./http/context.ts";
import type { RouteHandler } from "./http/router.ts";

const FRESH_MS = 1_000;

export interface ReadinessOptions {
  /** Returns whether the process reaches its dependencies. */
  isReady: () => Promise<boolean>;
  draining: () => boolean;
}

export function readiness({ isReady, draining }: ReadinessOptions): RouteHandler {
  const latest = new TtlCache<boolean>(FRESH_MS, 1);
  const ask = () => isReady().catch(() => false);
  return async (context: Context) => {
    context.state.route = "/ready";
    const ready = !draining() && (await latest.get("ready", ask));
    context.status = ready ? 200 : 503;
    context.set("Cache-Control", "no-store");
    context.body = { ready };
  };
}
