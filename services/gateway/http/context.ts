/** Context of one request and its response in the gateway's Koa application. */
import type { IncomingMessage } from "node:http";
import type { Next as KoaNext, ParameterizedContext } from "koa";
import type { Caller } from "../../lib/caller.ts";
import { newId } from "../../lib/ids.ts";
import { clientIp } from "./client-ip.ts";

export interface State {
  requestId: string;
  ip: string;
  /** The route as spelled in routes.ts: the label of metrics and logs. */
  route?: string;
  /** The company that owns the tracking domain of this request. */
  hostOf?: string;
  /** Set once the credentials are verified. */
  companyId?: string;
  /** Submitted form values, for routes that show the form again. */
  typed?: Record<string, unknown>;
  /** Dependency that caused a 503; only logged. */
  reason?: string;
}

export type Context = ParameterizedContext<State> & {
  params: Record<string, string>;
  /** Routes whose path matches, with any method; set by the router. */
  matched?: { methods: string[] }[];
};
export type Next = KoaNext;

// Ids that are safe in a log entry and a header; others are replaced.
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

// Long header values would end up in events and pages; no header that we use needs more.
const MAX_HEADER = 512;
const cut = (value: string) => value.slice(0, MAX_HEADER).toWellFormed();
const header = (context: Context, name: string) => cut(context.get(name));

/** Attributes of a public request that pages and tracking need. */
export const httpOf = (context: Context): NonNullable<Caller["http"]> => ({
  method: context.method,
  ip: context.state.ip,
  userAgent: header(context, "user-agent"),
  accept: header(context, "accept"),
  acceptLanguage: header(context, "accept-language"),
  contentType: header(context, "content-type"),
  ...(context.state.hostOf === undefined ? {} : { hostOf: context.state.hostOf }),
});
