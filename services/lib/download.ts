/**
 * Streams a download page by page: its action returns one page and the cursor of the next, which any node can serve.
 * Nothing is held open between pages, and memory does not grow with the file, however slow the reader.
 */
import { Readable } from "node:stream";
import type { CallingOptions } from "moleculer";
import type { DownloadPage } from "./shapes.ts";

const CURSOR = "download-cursor";

/** Undefined for the first page. */
export function cursorOf(ctx: object): string | undefined {
  const cursor = (ctx as { headers?: Record<string, unknown> }).headers?.[CURSOR];
  return typeof cursor === "string" ? cursor : undefined;
}

interface CanCall {
  call(action: string, params: unknown, options: CallingOptions): Promise<unknown>;
}

interface Pages {
  action: string;
  params?: unknown;
}

/**
 * Yields all pages, requesting each after the previous one was read. The first is fetched before this resolves: a
 * download that fails before its first byte can still become an error response.
 */
export async function downloadFrom(
  broker: CanCall,
  { action, params }: Pages,
  options: CallingOptions,
  given?: DownloadPage,
): Promise<Readable> {
  const ask = (more: CallingOptions = {}) =>
    broker.call(action, params, { ...options, ...more }) as Promise<DownloadPage>;
  const first = given ?? (await ask());
  async function* bodies(): AsyncGenerator<string | Buffer> {
    // A started response cannot become a 429: later pages wait like background work.
    const meta = { ...options.meta, waitLeftMs: undefined };
    for (let page = first; ; page = await ask({ meta, headers: { [CURSOR]: page.next } })) {
      if (page.body.length > 0) yield page.body;
      if (page.next === null) return;
    }
  }
  return Readable.from(bodies(), { objectMode: false });
}

/** A page of CSV rows; one with fewer rows than its `size` is the last. `keyOf`: the key for paging. */
export const csvPage = <Row>(
  rows: readonly Row[],
  size: number,
  line: (row: Row) => string,
  keyOf: (row: Row) => string,
): DownloadPage => ({ body: rows.map(line).join(""), next: rows.length < size ? null : keyOf(rows.at(-1)!) });
