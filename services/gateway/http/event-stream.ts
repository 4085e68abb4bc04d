/** Sends server-sent events to one client and bounds the events that are buffered for it. */
import { PassThrough } from "node:stream";
import type { Context } from "./context.ts";

/** Some eighty events. A client that lags further behind has stopped reading and is disconnected. */
const MAX_WAITING_BYTES = 16 * 1024;

export class EventStream {
  readonly #out = new PassThrough({ highWaterMark: MAX_WAITING_BYTES });

  constructor(context: Context, onClose: () => void) {
    this.#out.on("error", () => {}).on("close", onClose);
    context.set({
      "Content-Type": "text/event-stream",
      "Cache-Control": "no-store",
      // Stops proxies such as nginx from buffering events.
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
