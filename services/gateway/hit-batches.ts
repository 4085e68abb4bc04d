/**
 * Opens and clicks come by the thousand after a campaign, and each is little work. Those that arrive within one iteration
 * of the event loop go to the tracking service as one call, past the router and the reading of parameters. Each is still
 * counted by the throttle, and answered once it is stored. What is not plain (HEAD, a limit that is reached, a token that
 * cannot be one of ours) goes on to the routes of the same paths.
 */
import { call } from "../call.ts";
import type { ReturnsOf } from "../contracts.ts";
import { notFound } from "../lib/errors.ts";
import { groupCommit } from "../lib/group-commit.ts";
import { locationOf, NOT_KEPT, PIXEL, PIXEL_TYPE } from "../lib/hit-answers.ts";
import { isOverLimit } from "./access/throttle.ts";
import { type Context, type Next, userAgentOf } from "./http/context.ts";
import type { Route } from "./routes.ts";

type Broker = Parameters<typeof call>[0];
type Answer = ReturnsOf<"tracking.hits">["answers"][number];

interface Hit {
  open: boolean;
  token: string;
  ip: string;
  userAgent: string;
  hostOf?: string;
}

const MAX_BATCH = 500;
/** The tracking service's own limit: beyond it, 503 is the honest answer. */
const MAX_WAITING = 20_000;
/** Far more than iterations of the event loop in the time of one commit. */
const MAX_CALLS_IN_FLIGHT = 64;

const PATH = /^\/api\/emails\/public\/(?:open\/([\w-]{1,4096})\.gif|click\/([\w-]{1,4096})\/)$/;
const PUBLIC = "/api/emails/public/";

// A text leaves together with its headers in one write, a Buffer behind them in a second.
const PIXEL_TEXT = PIXEL.toString("latin1");

function answerPixel(context: Context): void {
  const { res } = context;
  context.respond = false;
  res.statusCode = 200;
  res.setHeader("Cache-Control", NOT_KEPT["cache-control"]);
  res.setHeader("Content-Type", PIXEL_TYPE);
  res.setHeader("Content-Length", PIXEL.length);
  res.end(PIXEL_TEXT, "latin1");
}

function answerRedirect(context: Context, url: string): void {
  const { res } = context;
  const location = locationOf(url);
  context.respond = false;
  res.statusCode = 302;
  res.setHeader("Cache-Control", NOT_KEPT["cache-control"]);
  res.setHeader("Location", location);
  res.setHeader("Content-Type", "text/plain; charset=utf-8");
  res.setHeader("Content-Length", 0);
  res.end();
}

export function hitBatches({ broker, routes }: { broker: Broker; routes: readonly Route[] }) {
  const opens = routes.find(({ action }) => action === "tracking.open");
  const clicks = routes.find(({ action }) => action === "tracking.click");
  const batches = groupCommit<Hit, Answer>(
    async (batch) => (await call(broker, "tracking.hits", { hits: batch })).answers,
    { maxBatch: MAX_BATCH, maxWaiting: MAX_WAITING, atOnce: MAX_CALLS_IN_FLIGHT },
  );

  async function hit(context: Context, route: Route, token: string, next: Next): Promise<void> {
    const open = route === opens;
    context.state.route = route.path;
    context.params = { token };
    if (await isOverLimit(context, route)) return next();
    const { outcome, url } = await batches.add({
      open,
      token,
      ip: context.state.ip,
      userAgent: userAgentOf(context),
      ...(context.state.hostOf === undefined ? {} : { hostOf: context.state.hostOf }),
    });
    if (outcome === "unknown") throw notFound();
    if (outcome === "failed") throw new Error("The tracking service could not store this one; its log says why.");
    if (open) answerPixel(context);
    else answerRedirect(context, url!);
  }

  return (context: Context, next: Next): Promise<void> => {
    const { method, path } = context;
    const match = method === "GET" && path.startsWith(PUBLIC) ? PATH.exec(path) : null;
    const [, pixel, link] = match ?? [];
    const route = pixel ? opens : link ? clicks : undefined;
    return route ? hit(context, route, (pixel ?? link)!, next) : next();
  };
}
