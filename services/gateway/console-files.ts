/** How pages of the console, its style sheet and its scripts go out: compressed for who takes that. */
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { LRUCache } from "lru-cache";
import { call } from "../call.ts";
import type { Shown } from "../console/contract.ts";
import type { Context } from "./http/context.ts";
import { writeDocument } from "./http/response.ts";
import type { RouteHandler } from "./http/router.ts";
import { staticFile } from "./http/static-file.ts";

const zip = promisify(gzip);
/** Below this a page fits into one packet as it is. */
const MIN_ZIPPED = 1_200;
// 6 makes a page of 60 kB 4 % smaller, in twice the time.
const ZIP = { level: 4 };

/**
 * A page, compressed for who takes it. Its form token is masked for each page, and another site's request brings no cookie:
 * nobody can guess at what a page holds by its length.
 */
export async function writePage(context: Context, page: Shown): Promise<void> {
  writeDocument(context, page);
  context.vary("Accept-Encoding");
  const { body } = page;
  if (typeof body !== "string" || body.length < MIN_ZIPPED || context.acceptsEncodings("gzip", "identity") !== "gzip")
    return;
  context.body = await zip(body, ZIP);
  context.set("Content-Encoding", "gzip");
}

const MAX_ASSETS = 64;

/** Style and scripts, by name: compressed once in each process. The name changes with the content. */
export function consoleFiles(broker: Parameters<typeof call>[0]) {
  const known = new LRUCache<string, RouteHandler>({ max: MAX_ASSETS });
  return async (context: Context, name: string, options: object): Promise<void> => {
    let file = known.get(name);
    if (!file) {
      const found = await call(broker, "console.asset", { name }, options);
      const { content_type, body, headers = {} } = found;
      // Of another version: whoever makes up names must not make us compress.
      if (headers["cache-control"] === "no-store") return writeDocument(context, found);
      file = staticFile("/app/", { type: content_type, read: () => Buffer.from(body), headers });
      known.set(name, file);
    }
    await file(context);
  };
}
