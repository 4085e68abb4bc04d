/** One request and its response, as Koa passes them through the gateway. */
import type { IncomingMessage } from "node:http";
import type { Next as KoaNext, ParameterizedContext } from "koa";
import type { Caller } from "../../lib/caller.ts";
import { newId } from "../../lib/ids.ts";
import { clientIp } from "./client-ip.ts";

export interface State {
  requestId: string;
  ip: string;
  /** The path of the route as routes.ts spells it: the label in metrics and logs. */
  route?: string;
  /** The company whose tracking domain the request came to. */
  hostOf?: string;
  /** Once the credentials are known. */
  companyId?: string;
  /** What a person's form said, on routes that show it again. */
  typed?: Record<string, unknown>;
  /** Of a 503: what is away, for the log alone. */
  reason?: string;
}

export type Context = ParameterizedContext<State> & {
  params: Record<string, string>;
  /** Set by the router: the routes whose path fits, whatever their method. */
  matched?: { methods: string[] }[];
};
export type Next = KoaNext;

// What fits into a log entry and a header; anything else is replaced.
const REQUEST_ID = /^[A-Za-z0-9._:/+=@-]{1,128}$/;

export function requestIdFrom({ headers }: IncomingMessage): string {
  const given = headers["x-request-id"];
  return typeof given === "string" && REQUEST_ID.test(given) ? given : newId();
}

export const ipOf = (context: Context, trustedProxies: number) =>
  clientIp(
    context.req.socket.remoteAddress ?? "",
    context.req.headers["x-forwarded-for"] as string | undefined,
    trustedProxies,
  );

// Long header values end up in events and pages; none of ours needs more.
const MAX_HEADER = 512;
const cut = (value: string) => value.slice(0, MAX_HEADER).toWellFormed();
const header = (context: Context, name: string) => cut(context.get(name));

/** What pages and tracking need of a public request. */
export const httpOf = (context: Context): NonNullable<Caller["http"]> => ({
  method: context.method,
  ip: context.state.ip,
  userAgent: header(context, "user-agent"),
  accept: header(context, "accept"),
  acceptLanguage: header(context, "accept-language"),
  contentType: header(context, "content-type"),
  ...(context.state.hostOf === undefined ? {} : { hostOf: context.state.hostOf }),
});
