/** Looks at the first bytes of an upload before it is passed on. */
import { Readable } from "node:stream";
import { SNIFF_BYTES, sniff } from "../lib/sniff.ts";

/** The type that the content shows, and the same bytes as a new stream. */
export async function sniffed(stream: Readable, filename: string): Promise<{ type: string; stream: Readable }> {
  const bytes = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let head: Buffer = Buffer.alloc(0);
  while (head.length < SNIFF_BYTES) {
    const { value, done } = await bytes.next();
    if (done) break;
    head = Buffer.concat([head, value]);
  }
  async function* all() {
    yield head;
    yield* { [Symbol.asyncIterator]: () => bytes };
  }
  return { type: sniff(head, filename), stream: Readable.from(all(), { objectMode: false }) };
}
