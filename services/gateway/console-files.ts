/** Sends the console's pages, style sheets and scripts, compressed if the browser accepts it. */
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { LRUCache } from "lru-cache";
import { call } from "../call.ts";
import type { RawResponse } from "../console/contract.ts";
import type { Context } from "./http/context.ts";
import { writeDocument } from "./http/response.ts";
import type { RouteHandler } from "./http/router.ts";
import { staticFile } from "./http/static-file.ts";

const zip = promisify(gzip);
/** Smaller pages fit into one packet without compression. */
const MIN_ZIPPED = 1_200;
const ZIP = { level: 4 };

/**
 * Sends a page, compressed. This is safe from compression attacks (BREACH): form tokens are masked per page, and
 * requests from other sites carry no cookie.
 */
export async function writePage(context: Context, page: RawResponse): Promise<void> {
  writeDocument(context, page);
  context.vary("Accept-Encoding");
  const { body } = page;
  if (typeof body !== "string" || body.length < MIN_ZIPPED || context.acceptsEncodings("gzip", "identity") !== "gzip")
    return;
  context.body = await zip(body, ZIP);
  context.set("Content-Encoding", "gzip");
}

const MAX_ASSETS = 64;

/** Style sheets and scripts by name, compressed once per process. The name changes with the content. */
export function consoleFiles(broker: Parameters<typeof call>[0]) {
  const handlers = new LRUCache<string, RouteHandler>({ max: MAX_ASSETS });
  return async (context: Context, name: string, options: object): Promise<void> => {
    let file = handlers.get(name);
    if (!file) {
      const found = await call(broker, "console.asset", { name }, options);
      const { content_type, body, headers = {} } = found;
      // Names of other versions are not compressed: made-up names must not cost CPU.
      if (headers["cache-control"] === "no-store") return writeDocument(context, found);
      file = staticFile("/app/", { type: content_type, read: () => Buffer.from(body), headers });
      handlers.set(name, file);
    }
    await file(context);
  };
}
