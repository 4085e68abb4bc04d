/** Writes an action's result as the HTTP response. */
import type { Readable } from "node:stream";
import type { Document } from "../../lib/shapes.ts";
import type { Answer, Route } from "../routes.ts";
import type { Context } from "./context.ts";
import { setDevice } from "./device-cookie.ts";
import type { Params } from "./params.ts";

type Write = (context: Context, result: unknown, request: { params: Params; baseUrl: string; route: Route }) => unknown;

interface Rows {
  count: number;
  count_estimated?: boolean;
  next: string | null;
  previous: string | null;
  results: unknown[];
}

/** The request's address with another cursor, all other query parameters kept. `page` numbers the page for people. */
function pageUrl(context: Context, baseUrl: string, page: number, cursor: string | null): string | null {
  if (cursor === null) return null;
  const query = new URLSearchParams(context.querystring);
  query.set("page", String(Math.max(1, page)));
  query.set("cursor", cursor);
  return `${baseUrl}${context.path}?${query}`;
}

/** Sets status and headers on Node's response directly; Koa's setters read back what they just set. */
function writeJson(context: Context, result: unknown): void {
  context.res.setHeader("Content-Type", "application/json; charset=utf-8");
  context.body = JSON.stringify(result);
}

const list: Write = (context, result, { params, baseUrl }) => {
  const { count, count_estimated, next, previous, results } = result as Rows;
  const page = (params.page as number | undefined) ?? 1;
  context.body = {
    count,
    ...(count_estimated ? { count_estimated } : {}),
    next: pageUrl(context, baseUrl, page + 1, next),
    previous: pageUrl(context, baseUrl, page - 1, previous),
    results,
  };
};

const csv: Write = (context, result, { route }) => {
  const [noun] = route.path
    .split("/")
    .filter((part) => part !== "export" && !part.startsWith(":"))
    .slice(3);
  context.set("Content-Type", "text/csv; charset=utf-8");
  context.set("Content-Disposition", `attachment; filename="${noun}-${new Date().toISOString().slice(0, 10)}.csv"`);
  context.body = result as Readable;
};

const opaque = (etag: string) => etag.trim().replace(/^W\//, "");

/**
 * Compares weakly (RFC 9110, section 13.1.2). Koa's `fresh` also obeys `Cache-Control: no-cache`, which is meant for
 * caches and which every `fetch` client sends.
 */
export function isNotModified(context: Context, etag: string): boolean {
  const clientTags = context.get("if-none-match");
  return clientTags === "*" || clientTags.split(",").some((one) => opaque(one) === opaque(etag));
}

export function writeDocument(context: Context, { status, content_type, body, headers = {} }: Document): void {
  if (status !== undefined) context.status = status;
  context.set(headers);
  context.set("Content-Type", content_type);
  context.body = body;
  if (headers.etag !== undefined && isNotModified(context, headers.etag)) context.status = 304;
}

const document: Write = (context, result) => writeDocument(context, result as Document);

const writers: Record<Answer, Write> = {
  json: (context, result, { route, baseUrl }) => {
    if (!route.deviceCookie) return writeJson(context, result);
    const { device, ...body } = result as { device?: string };
    if (device) setDevice(context, device, baseUrl);
    context.body = body;
  },
  list,
  csv,
  // Event streams outlive the action's result (progress-streams.ts).
  events: () => {},
  html: document,
  feed: document,
  bytes: document,
  redirect: document,
  none: (context) => {
    context.body = null;
  },
};

/** If several fields are true, the last one decides. */
const statusOf = ({ status, statusBy }: Route, params: Params): number =>
  (statusBy && Object.entries(statusBy).findLast(([field]) => params[field] === true)?.[1]) ?? status;

export function responseWriter(route: Route, baseUrl: string) {
  const write = writers[route.answer];
  return (context: Context, result: unknown, params: Params): unknown => {
    context.status = statusOf(route, params);
    return write(context, result, { params, baseUrl, route });
  };
}
