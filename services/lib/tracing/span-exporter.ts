/**
 * Hands spans over to a collector, in batches behind everybody's back: nobody ever waits for it. Spans wait in bounded
 * memory; where the collector is away or slow, new ones are dropped and counted. Loaded only where a collector is named.
 */
import type { Agent, IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { counter } from "../metrics.ts";
import { Agent as HttpAgent, request as httpRequest } from "../node-http.ts";
import { withTimeout } from "../timeouts.ts";
import { otlpRequest } from "./otlp.ts";
import type { Attributes, Span } from "./span.ts";

/** Some 4 MB. */
const MAX_WAITING = 4_096;
/** Its JSON is made at once: 2 ms. */
const MAX_BATCH = 512;
const LINGER_MS = 2_000;
const ANSWER_MS = 5_000;
/** After a collector gave no answer. */
const PAUSE_MS = 5_000;
/** At the end of the process, after everything else. */
const FLUSH_MS = 2_000;

const spans = counter("flockmail_trace_spans_total", "Spans by what became of them: exported, or dropped and why.", [
  "result",
]);

export interface Collector {
  /** Where spans are posted: …/v1/traces. */
  url: URL;
  headers: Record<string, string>;
  resource: Attributes;
  version: string;
}

interface Log {
  info(text: string): void;
  warn(text: string): void;
}

export interface ExporterOptions {
  lingerMs?: number;
  pauseMs?: number;
  answerMs?: number;
  flushMs?: number;
}

/** What time does not heal: the request itself is wrong, or we may not. */
class Refused extends Error {}

const isTemporary = (status: number) => status === 408 || status === 429 || status >= 500;

export class SpanExporter {
  readonly #collector: Collector;
  readonly #log: Log;
  readonly #options: Required<ExporterOptions>;
  readonly #agent: Agent;
  /** Oldest first. A batch under way stays at the head until it was taken. */
  #waiting: Span[] = [];
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #abort: AbortController | undefined;
  #isAway = false;
  #closed = false;

  constructor(collector: Collector, log: Log, options: ExporterOptions = {}) {
    this.#collector = collector;
    this.#log = log;
    this.#options = { lingerMs: LINGER_MS, pauseMs: PAUSE_MS, answerMs: ANSWER_MS, flushMs: FLUSH_MS, ...options };
    const agent = { keepAlive: true, maxSockets: 1 };
    this.#agent = collector.url.protocol === "https:" ? new HttpsAgent(agent) : new HttpAgent(agent);
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  add(span: Span): void {
    if (this.#closed || this.#waiting.length >= MAX_WAITING) {
      spans.inc({ result: this.#closed ? "dropped_at_stop" : "dropped_full" });
      return;
    }
    this.#waiting.push(span);
    if (this.#waiting.length >= MAX_BATCH && !this.#isAway) this.#sendNow();
    else this.#sendIn(this.#options.lingerMs);
  }

  #sendIn(ms: number): void {
    if (this.#sending || this.#closed) return;
    this.#timer ??= setTimeout(() => this.#sendNow(), ms).unref();
  }

  #sendNow(): void {
    if (this.#sending) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sending = this.#send().finally(() => {
      this.#sending = undefined;
      if (this.#waiting.length > 0) this.#sendIn(this.#isAway ? this.#options.pauseMs : this.#options.lingerMs);
    });
  }

  /** Until little is left, or the collector does not answer. */
  async #send(): Promise<void> {
    do {
      const batch = this.#waiting.slice(0, MAX_BATCH);
      if (!(await this.#sendBatch(batch))) return;
      this.#waiting.splice(0, batch.length);
    } while (this.#waiting.length >= MAX_BATCH || (this.#closed && this.#waiting.length > 0));
  }

  /** False: it is to be sent again. */
  async #sendBatch(batch: readonly Span[]): Promise<boolean> {
    try {
      await this.#post(otlpRequest(this.#collector.resource, this.#collector.version, batch));
      spans.inc({ result: "exported" }, batch.length);
      this.#noteAway(undefined);
      return true;
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      this.#noteAway(code ?? message);
      if (!(error instanceof Refused)) return false;
      spans.inc({ result: "dropped_refused" }, batch.length);
      return true;
    }
  }

  /** One line when it begins and one when it is over, without the address: messages of errors name it, their codes do not. */
  #noteAway(reason: string | undefined): void {
    if (reason !== undefined && !this.#isAway) this.#log.warn(`Traces: the collector takes nothing: ${reason}`);
    if (reason === undefined && this.#isAway) this.#log.info("Traces: the collector is back");
    this.#isAway = reason !== undefined;
  }

  async #post(body: string): Promise<void> {
    const abort = new AbortController();
    this.#abort = abort;
    const timer = setTimeout(() => abort.abort(new Error("no answer in time")), this.#options.answerMs);
    try {
      const status = await this.#answerTo(body, abort.signal);
      if (status >= 200 && status < 300) return;
      throw isTemporary(status) ? new Error(`it answered ${status}`) : new Refused(`it answered ${status}`);
    } catch (error) {
      if (abort.signal.aborted) throw abort.signal.reason;
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  #answerTo(body: string, signal: AbortSignal): Promise<number> {
    const { url, headers } = this.#collector;
    const ask = url.protocol === "https:" ? httpsRequest : httpRequest;
    const all = { ...headers, "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    return new Promise((resolve, reject) => {
      ask(url, { method: "POST", headers: all, agent: this.#agent, signal }, (answer: IncomingMessage) => {
        answer.on("error", reject).on("end", () => resolve(answer.statusCode!));
        answer.resume();
      })
        .on("error", reject)
        .end(body);
    });
  }

  /** Hands over what waits, for two seconds at most; the rest is dropped and counted. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#timer);
    const flushed = (async () => {
      await this.#sending;
      if (this.#waiting.length > 0 && !this.#isAway) await this.#send();
    })();
    await withTimeout(flushed, this.#options.flushMs, () => new Error("late")).catch(() => {});
    this.#abort?.abort(new Error("the process stops"));
    await flushed;
    spans.inc({ result: "dropped_at_stop" }, this.#waiting.length);
    this.#waiting = [];
    this.#agent.destroy();
  }
}
