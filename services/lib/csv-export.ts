/**
 * A CSV download, page by page: no snapshot is held open, and memory does not grow with the file. While one page is written the
 * next is read, and no further one, however slowly the client reads.
 */
import { Readable } from "node:stream";
import { setImmediate as breathe } from "node:timers/promises";
import { bulkSteps } from "./give-way.ts";

/** A row's columns as PostgreSQL writes them; the first is the key that pages go by. */
type TextRow = (string | null)[];

/** So many lines are written in 1 to 2 ms, after which others have the event loop. */
const AT_ONCE = 500;

interface Pages {
  companyId: string;
  /** Rows of a full page, smaller while others need the CPU; a shorter one is the last. */
  size: number;
  /** Less than all keys. */
  first: string;
  read: (after: string, size: number) => Promise<TextRow[]>;
  line: (row: TextRow) => string;
}

export async function* csvPages({ companyId, size, first, read, line }: Pages): AsyncGenerator<string> {
  let asked = 0;
  const next = (after: string) => {
    asked = bulkSteps.rows(companyId, size);
    return read(after, asked);
  };
  for (let reading: Promise<TextRow[]> | undefined = next(first); reading; ) {
    const rows: TextRow[] = await reading;
    reading = rows.length < asked ? undefined : next(rows.at(-1)![0]!);
    // Where it fails, that is thrown when its turn comes; a client that left never asks.
    reading?.catch(() => {});
    for (let at = 0; at < rows.length; at += AT_ONCE) {
      if (at > 0) await breathe();
      let text = "";
      for (const row of rows.slice(at, at + AT_ONCE)) text += line(row);
      yield text;
    }
  }
}

/** Bytes, not objects: the stream may travel over NATS. */
export const csvStream = (lines: AsyncIterable<string>): NodeJS.ReadableStream =>
  Readable.from(lines, { objectMode: false });
