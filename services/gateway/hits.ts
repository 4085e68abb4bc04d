/**
 * Opens and clicks: after a campaign they come by the thousand, and each is little work. Those of one turn of the event
 * loop go to the tracking service as one call, past the router and the binding of parameters. Each is still counted by
 * the throttle, and answered when it is stored. What is not plain (HEAD, a limit that is reached, a token that cannot be
 * one of ours) goes on to the routes of the same paths.
 */
import { call } from "../call.ts";
import type { ReturnsOf } from "../contracts.ts";
import { notFound } from "../lib/errors.ts";
import { groupCommit } from "../lib/group-commit.ts";
import { locationOf, NOT_KEPT, PIXEL, PIXEL_TYPE } from "../lib/hit-answers.ts";
import { type Exchange, type Next, userAgentOf } from "./exchange.ts";
import type { Route } from "./routes.ts";
import { isOverLimit } from "./throttle.ts";

type Broker = Parameters<typeof call>[0];
type Answer = ReturnsOf<"tracking.hits">["answers"][number];

interface Hit {
  open: boolean;
  token: string;
  ip: string;
  userAgent: string;
}

const MAX_BATCH = 500;
/** As the tracking service has it: beyond this, 503 is the honest answer. */
const MAX_WAITING = 20_000;
/** Far more than turns of the event loop in the time of one commit. */
const CALLS_AT_ONCE = 64;

const PATH = /^\/api\/emails\/public\/(?:open\/([\w-]{1,4096})\.gif|click\/([\w-]{1,4096})\/)$/;
const PUBLIC = "/api/emails/public/";

// A text leaves together with its headers in one write, a Buffer behind them in a second.
const PIXEL_TEXT = PIXEL.toString("latin1");

function answerPixel(exchange: Exchange): void {
  const { res } = exchange;
  exchange.respond = false;
  res.statusCode = 200;
  res.setHeader("Cache-Control", NOT_KEPT["cache-control"]);
  res.setHeader("Content-Type", PIXEL_TYPE);
  res.setHeader("Content-Length", PIXEL.length);
  res.end(PIXEL_TEXT, "latin1");
}

function answerRedirect(exchange: Exchange, url: string): void {
  exchange.status = 302;
  exchange.set("Cache-Control", NOT_KEPT["cache-control"]);
  exchange.set("Location", locationOf(url));
  exchange.set("Content-Type", "text/plain; charset=utf-8");
  exchange.body = "";
}

export function hits({ broker, routes }: { broker: Broker; routes: readonly Route[] }) {
  const opens = routes.find(({ action }) => action === "tracking.open");
  const clicks = routes.find(({ action }) => action === "tracking.click");
  const together = groupCommit<Hit, Answer>(
    async (batch) => (await call(broker, "tracking.hits", { hits: batch })).answers,
    { maxBatch: MAX_BATCH, maxWaiting: MAX_WAITING, atOnce: CALLS_AT_ONCE },
  );

  async function hit(exchange: Exchange, route: Route, token: string, next: Next): Promise<void> {
    const open = route === opens;
    exchange.state.route = route.path;
    exchange.params = { token };
    if (await isOverLimit(exchange, route)) return next();
    const { outcome, url } = await together.add({
      open,
      token,
      ip: exchange.state.ip,
      userAgent: userAgentOf(exchange),
    });
    if (outcome === "unknown") throw notFound();
    if (outcome === "failed") throw new Error("The tracking service could not store this one; its log says why.");
    if (open) answerPixel(exchange);
    else answerRedirect(exchange, url!);
  }

  return (exchange: Exchange, next: Next): Promise<void> => {
    const { method, path } = exchange;
    const match = method === "GET" && path.startsWith(PUBLIC) ? PATH.exec(path) : null;
    const [, pixel, link] = match ?? [];
    const route = pixel ? opens : link ? clicks : undefined;
    return route ? hit(exchange, route, (pixel ?? link)!, next) : next();
  };
}
