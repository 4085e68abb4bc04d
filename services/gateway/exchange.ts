/** One request and its answer, as the gateway's modules hand it on. */
import type { Next as KoaNext, ParameterizedContext } from "koa";
import type { Caller } from "../lib/caller.ts";
import { newId } from "../lib/ids.ts";
import { clientIp } from "./client-ip.ts";

export interface State {
  requestId: string;
  ip: string;
  /** The path of the route as routes.ts spells it: the label in metrics and logs. */
  route?: string;
}

export type Exchange = ParameterizedContext<State> & {
  params: Record<string, string>;
  /** Set by the router: the routes whose path fits, whatever their method. */
  matched?: { methods: string[] }[];
};
export type Next = KoaNext;

// What fits into a log line and a header; anything else is replaced.
const SANE_ID = /^[A-Za-z0-9._:/+=@-]{1,128}$/;

export function requestIdOf(exchange: Exchange): string {
  const given = exchange.get("x-request-id");
  return SANE_ID.test(given) ? given : newId();
}

export const ipOf = (exchange: Exchange, trustedProxies: number) =>
  clientIp(
    exchange.req.socket.remoteAddress ?? "",
    exchange.req.headers["x-forwarded-for"] as string | undefined,
    trustedProxies,
  );

// Long header values end up in events and pages; none of ours needs more.
const MAX_HEADER = 512;
const header = (exchange: Exchange, name: string) => exchange.get(name).slice(0, MAX_HEADER).toWellFormed();

export const userAgentOf = (exchange: Exchange) => header(exchange, "user-agent");

/** What pages and tracking need to know of a public request. */
export const httpOf = (exchange: Exchange): NonNullable<Caller["http"]> => ({
  method: exchange.method,
  ip: exchange.state.ip,
  userAgent: userAgentOf(exchange),
  accept: header(exchange, "accept"),
  acceptLanguage: header(exchange, "accept-language"),
  contentType: header(exchange, "content-type"),
});
