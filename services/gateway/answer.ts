/** What an action returned, as HTTP. */
import { once } from "node:events";
import type { Readable } from "node:stream";
import type { Document } from "../lib/shapes.ts";
import type { Exchange } from "./exchange.ts";
import { PAGE_SIZE, type Params } from "./params.ts";
import type { Answer, Route } from "./routes.ts";

type Write = (
  exchange: Exchange,
  result: unknown,
  context: { params: Params; baseUrl: string; route: Route },
) => unknown;

interface Rows {
  count: number;
  results: unknown[];
}

/** The same address with another page, all other query parameters kept. */
function pageUrl(exchange: Exchange, baseUrl: string, page: number): string {
  const query = new URLSearchParams(exchange.querystring);
  if (page === 1) query.delete("page");
  else query.set("page", String(page));
  const text = query.toString();
  return `${baseUrl}${exchange.path}${text === "" ? "" : `?${text}`}`;
}

const list: Write = (exchange, result, { params, baseUrl }) => {
  const { count, results } = result as Rows;
  const page = (params.page as number | undefined) ?? 1;
  const pages = Math.ceil(count / ((params.page_size as number | undefined) ?? PAGE_SIZE));
  exchange.body = {
    count,
    next: page < pages ? pageUrl(exchange, baseUrl, page + 1) : null,
    previous: page > 1 ? pageUrl(exchange, baseUrl, page - 1) : null,
    results,
  };
};

const csv: Write = async (exchange, result, { route }) => {
  const stream = result as Readable;
  // A download that fails before its first byte can still be told as what it is.
  if (!stream.readable || stream.readableLength === 0) {
    await Promise.race([once(stream, "readable"), once(stream, "end")]);
  }
  const [noun] = route.path
    .split("/")
    .filter((part) => part !== "export" && !part.startsWith(":"))
    .slice(3);
  exchange.set("Content-Type", "text/csv; charset=utf-8");
  exchange.set("Content-Disposition", `attachment; filename="${noun}-${new Date().toISOString().slice(0, 10)}.csv"`);
  exchange.body = stream;
};

const document: Write = (exchange, result) => {
  const { status, content_type, body, headers = {} } = result as Document;
  if (status !== undefined) exchange.status = status;
  exchange.set(headers);
  exchange.set("Content-Type", content_type);
  exchange.body = body;
};

const writers: Record<Answer, Write> = {
  json: (exchange, result) => {
    exchange.body = result;
  },
  list,
  csv,
  html: document,
  bytes: document,
  redirect: document,
  none: (exchange) => {
    exchange.body = null;
  },
};

export function answerer(route: Route, baseUrl: string) {
  const write = writers[route.answer];
  return (exchange: Exchange, result: unknown, params: Params): unknown => {
    exchange.status = route.status;
    return write(exchange, result, { params, baseUrl, route });
  };
}
