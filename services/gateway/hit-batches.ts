/**
 * Opens and clicks come by the thousand after a campaign, and each is little work. A plain one is answered before Koa, whose
 * layers and headers that are set one by one took 20 µs of the 95 that an open took this process. Those that arrive within
 * one iteration of the event loop go to the tracking service as one call. Each is counted by the throttle, measured and logged as
 * any request, and answered once it is stored.
 *
 * | what is not plain                                              | goes on through Koa             |
 * |----------------------------------------------------------------|---------------------------------|
 * | HEAD, a query, a token that cannot be one of ours, no header Host; what is traced | to the routes of the same paths |
 * | a limit that is reached                                        | the same: it answers 429, or redirects uncounted |
 * | a failure (unknown, not stored, nothing known of the host)     | to `failedHits`, which throws it: logged, and answered as any |
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { call } from "../call.ts";
import type { ReturnsOf } from "../contracts.ts";
import { notFound } from "../lib/errors.ts";
import { groupCommit } from "../lib/group-commit.ts";
import { locationOf, NOT_KEPT, PIXEL, PIXEL_TYPE } from "../lib/hit-answers.ts";
import { httpAnswered } from "../lib/metrics.ts";
import { isHitOverLimit } from "./access/throttle.ts";
import { type Arrival, arrivalOf, noteArrival } from "./http/arrival.ts";
import { clientIp } from "./http/client-ip.ts";
import { type Context, cut, type Next, requestIdFrom } from "./http/context.ts";
import { type HeaderOptions, headersOfAll } from "./http/error-handler.ts";
import { beginRequestSpan } from "./http/request-span.ts";
import type { Route } from "./routes.ts";
import type { TrackingHosts } from "./tracking-hosts.ts";

type Answer = ReturnsOf<"tracking.hits">["answers"][number];

interface Hit {
  open: boolean;
  token: string;
  ip: string;
  userAgent: string;
  hostOf?: string;
}

interface Options extends HeaderOptions {
  broker: Parameters<typeof call>[0];
  routes: readonly Route[];
  hosts: TrackingHosts;
  trustedProxies: number;
}

const MAX_BATCH = 500;
/** The tracking service's own limit: beyond it, 503 is the honest answer. */
const MAX_WAITING = 20_000;
/** Far more than iterations of the event loop in the time of one commit. */
const MAX_CALLS_IN_FLIGHT = 64;

const PUBLIC = "/api/emails/public/";
/** Without a query: what asks with one is not plain. */
const PATH = /^\/api\/emails\/public\/(?:open\/([\w-]{1,4096})\.gif|click\/([\w-]{1,4096})\/)$/;

// A text leaves together with its headers in one write, a Buffer behind them in a second.
const PIXEL_TEXT = PIXEL.toString("latin1");
const OF_PIXELS = ["Content-Type", PIXEL_TYPE, "Content-Length", String(PIXEL.length)];
const OF_REDIRECTS = ["Content-Type", "text/plain; charset=utf-8", "Content-Length", "0"];

/** As one list, which Node writes out as it is. */
function answer(response: ServerResponse, headers: string[], url: string | null): number {
  if (url === null) {
    response.writeHead(200, [...headers, ...OF_PIXELS]).end(PIXEL_TEXT, "latin1");
    return 200;
  }
  response.writeHead(302, [...headers, "Location", locationOf(url), ...OF_REDIRECTS]).end();
  return 302;
}

/** Answers a plain hit, now or later; false for any other request. `toKoa` takes those that turn out not to be plain. */
export function hitBatches(options: Options, toKoa: (request: IncomingMessage, response: ServerResponse) => void) {
  const { broker, routes, hosts, trustedProxies } = options;
  const opens = routes.find(({ action }) => action === "tracking.open");
  const clicks = routes.find(({ action }) => action === "tracking.click");
  const batches = groupCommit<Hit, Answer>(
    async (batch) => (await call(broker, "tracking.hits", { hits: batch })).answers,
    { maxBatch: MAX_BATCH, maxWaiting: MAX_WAITING, atOnce: MAX_CALLS_IN_FLIGHT },
  );

  /** Where the link leads, null for a pixel; undefined where a limit is reached. */
  async function store(request: IncomingMessage, token: string, open: boolean): Promise<string | null | undefined> {
    const company = await hosts.companyOf(request.headers.host);
    const ip = clientIp(
      request.socket.remoteAddress ?? "",
      request.headers["x-forwarded-for"] as string | undefined,
      trustedProxies,
    );
    const userAgent = cut(request.headers["user-agent"] ?? "");
    if (await isHitOverLimit({ ip, userAgent, token })) return undefined;
    const hit = { open, token, ip, userAgent };
    const { outcome, url } = await batches.add(company === null ? hit : { ...hit, hostOf: company });
    if (outcome === "unknown") throw notFound();
    if (outcome === "failed") throw new Error("The tracking service could not store this one; its log says why.");
    return open ? null : url;
  }

  async function take(request: IncomingMessage, response: ServerResponse, route: Route, token: string): Promise<void> {
    const startedMs = performance.now();
    const span = beginRequestSpan(request);
    const arrival: Arrival = { startedMs, requestId: requestIdFrom(request), span };
    try {
      const url = span ? undefined : await store(request, token, route === opens);
      if (url !== undefined) {
        const headers = headersOfAll(arrival.requestId, NOT_KEPT["cache-control"], true, options);
        const status = answer(response, headers, url);
        httpAnswered("GET", route.path, status, (performance.now() - startedMs) / 1_000);
        return;
      }
    } catch (error) {
      arrival.failed = { route: route.path, error };
    }
    noteArrival(request, arrival);
    toKoa(request, response);
  }

  return (request: IncomingMessage, response: ServerResponse): boolean => {
    const { method, url = "", headers } = request;
    const match = method === "GET" && url.startsWith(PUBLIC) && headers.host !== undefined ? PATH.exec(url) : null;
    if (!match) return false;
    const [, pixel, link] = match;
    const route = pixel ? opens : clicks;
    if (!route) return false;
    void take(request, response, route, (pixel ?? link)!);
    return true;
  };
}

/** A hit that could not be stored is not tried a second time by its route. */
export function failedHits(context: Context, next: Next): Promise<void> {
  const failed = arrivalOf(context.req)?.failed;
  if (!failed) return next();
  context.state.route = failed.route;
  throw failed.error;
}
