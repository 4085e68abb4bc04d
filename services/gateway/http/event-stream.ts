/** Server-sent events to one reader: the bytes, and the bound on what waits for them. */
import { PassThrough } from "node:stream";
import type { Context } from "./context.ts";

/** Some eighty events: whoever lags behind them reads nothing any more, and is dropped. */
const MAX_WAITING_BYTES = 16 * 1024;

export class EventStream {
  readonly #out = new PassThrough({ highWaterMark: MAX_WAITING_BYTES });

  constructor(context: Context, onClose: () => void) {
    this.#out.on("error", () => {}).on("close", onClose);
    context.set({
      "Content-Type": "text/event-stream",
      "Cache-Control": "no-store",
      // Proxies of the nginx kind would hold events back until a buffer is full.
      "X-Accel-Buffering": "no",
    });
    context.body = this.#out;
  }

  send(event: string, data: unknown): void {
    if (this.#out.writableEnded || this.#out.destroyed) return;
    this.#out.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
    if (this.#out.writableLength + this.#out.readableLength > MAX_WAITING_BYTES) this.#out.destroy();
  }

  end(): void {
    this.#out.end();
  }
}
