/**
 * Bulk over NATS: streams, and messages that are too large for one. Whoever has the bytes keeps them until the other side
 * asks for the next piece, so that at most one piece of each is on its way: memory stays flat however fast one side is and
 * however slow the other, and heartbeats on the same connection wait for a few pieces and never for a file. Moleculer's own
 * streams publish as fast as they can read: an import of 100,000 rows took 466 MiB, one of 1.2 million rows killed both pods.
 *
 * A piece is asked for with a NATS request and answered with bytes as they are, behind one byte that says what they are.
 */
import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import type { NatsConnection } from "nats";
import { unavailable } from "../services/lib/errors.ts";

/** NATS takes messages of 1 MiB unless it is configured otherwise. */
const PIECE_BYTES = 256 * 1024;
/** A source that has nothing yet says so, before the reader takes its silence for the end of its node. */
const NOTHING_YET_MS = 5_000;
const ANSWER_MS = 20_000;
/** Of one that is asked for nothing any more although its reader's node lives: a message to close it was lost. */
const FORGOTTEN_MS = 10 * 60_000;
const MAX_MESSAGE_BYTES = 64 * 1024 ** 2;
const MAX_KEPT_BYTES = 128 * 1024 ** 2;
/** A call has 30 s, and what belongs to it is of no use afterwards. */
const MESSAGE_KEPT_MS = 30_000;

const MORE = 0;
const END = 1;
const FAILED = 2;

const CLOSE = "close";
const EMPTY = Buffer.alloc(0);

interface Piece {
  bytes: Buffer;
  last?: boolean;
}

interface Source {
  /** Who asks for it: a source of a node that is gone is closed. */
  reader?: string;
  /** The piece behind the first `from` bytes. */
  next(from: number): Promise<Piece>;
  close(): void;
  timer: NodeJS.Timeout;
}

const asBuffer = (chunk: unknown): Buffer => (Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk as string));

/** What of an error crosses to another node, as with Moleculer's own. */
const portable = ({ name, message, code, data, retryable }: Error & Record<string, unknown>) =>
  JSON.stringify({ name, message, code, data, retryable });

const restored = (text: string): Error => {
  const { message, ...rest } = JSON.parse(text) as { message: string };
  return Object.assign(new Error(message), rest);
};

function nextOf(stream: Readable): Source["next"] {
  const chunks = stream[Symbol.asyncIterator]();
  let waiting: Promise<IteratorResult<unknown>> | undefined;
  let rest: Buffer = EMPTY;
  return async () => {
    if (rest.length === 0) {
      waiting ??= chunks.next();
      const given = await firstOf(waiting, NOTHING_YET_MS);
      if (!given) return { bytes: EMPTY };
      waiting = undefined;
      if (given.done) return { bytes: EMPTY, last: true };
      rest = asBuffer(given.value);
    }
    const bytes = rest.subarray(0, PIECE_BYTES);
    rest = rest.subarray(PIECE_BYTES);
    return { bytes };
  };
}

async function firstOf<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  const over = new AbortController();
  const late = sleep(ms, undefined, { signal: over.signal }).catch(() => undefined);
  return Promise.race([work, late]).finally(() => over.abort());
}

type Connection = Pick<NatsConnection, "subscribe" | "request" | "publish">;

export class NatsPieces {
  readonly #topicOf: (nodeId: string) => string;
  readonly #client: () => Connection | null;
  readonly #sources = new Map<string, Source>();
  readonly #readers = new Map<Readable, string>();
  #keptBytes = 0;

  constructor(topicOf: (nodeId: string) => string, client: () => Connection | null) {
    this.#topicOf = topicOf;
    this.#client = client;
  }

  /** Answers other nodes; with each new client. */
  serve(client: Connection, nodeId: string): void {
    client.subscribe(this.#topicOf(nodeId), {
      callback: (error, message) => {
        if (error) return;
        const [id, from] = message.string().split(" ") as [string, string];
        if (from === CLOSE) this.withdraw(id);
        else void this.#answer(id, Number(from)).then((answer) => message.respond(answer));
      },
    });
  }

  /**
   * Gives `reader` a stream: it is read as far as that node asks, and closed when it asks no more. Returns its id. Where
   * `keepUnread` is set, one of which nothing was read stays open: a call that was refused may go to another node with it.
   */
  offer(stream: Readable, reader: string, { keepUnread = false } = {}): string {
    // Nobody listens to it between two pieces.
    stream.on("error", () => {});
    const read = nextOf(stream);
    let isRead = false;
    const next = (from: number) => {
      isRead = true;
      return read(from);
    };
    const close = () => {
      if (isRead || !keepUnread) stream.destroy();
    };
    return this.#keep({ reader, next, close }, FORGOTTEN_MS);
  }

  /** The same of bytes that are there. Throws where too many are kept already. */
  offerBytes(bytes: Buffer): string {
    if (bytes.length > MAX_MESSAGE_BYTES) throw new Error(`A message of ${bytes.length} bytes is too large`);
    if (this.#keptBytes + bytes.length > MAX_KEPT_BYTES) throw unavailable("Too many large messages are under way.");
    this.#keptBytes += bytes.length;
    const next = async (from: number) => ({
      bytes: bytes.subarray(from, from + PIECE_BYTES),
      last: from + PIECE_BYTES >= bytes.length,
    });
    const close = () => {
      this.#keptBytes -= bytes.length;
    };
    return this.#keep({ next, close }, MESSAGE_KEPT_MS);
  }

  withdraw(id: string): void {
    const source = this.#sources.get(id);
    this.#sources.delete(id);
    clearTimeout(source?.timer);
    source?.close();
  }

  /** What another node offers. Fails as "unavailable" when that node or NATS is gone. */
  read(nodeId: string, id: string): Readable {
    const topic = this.#topicOf(nodeId);
    let at = 0;
    let ended = false;
    const next = async (): Promise<Buffer | null> => {
      for (;;) {
        const client = this.#client();
        if (ended) return null;
        if (!client) throw unavailable();
        const { data } = await client.request(topic, `${id} ${at}`, { timeout: ANSWER_MS }).catch((error) => {
          throw unavailable(undefined, error);
        });
        const [kind, bytes] = [data[0], Buffer.from(data.buffer, data.byteOffset + 1, data.length - 1)];
        if (kind === FAILED) throw restored(bytes.toString());
        ended = kind === END;
        at += bytes.length;
        if (bytes.length > 0) return bytes;
      }
    };
    const stream = new Readable({
      highWaterMark: PIECE_BYTES,
      read: () =>
        void next().then(
          (bytes) => stream.push(bytes),
          (error) => stream.destroy(error),
        ),
      destroy: (error, done) => {
        this.#readers.delete(stream);
        if (!ended) this.#client()?.publish(topic, `${id} ${CLOSE}`);
        done(error);
      },
    });
    // Whoever was given it may not listen yet, or no more.
    stream.on("error", () => {});
    this.#readers.set(stream, nodeId);
    return stream;
  }

  /** A node is gone, or without one NATS is: nobody waits for what was on its way. */
  giveUp(nodeId?: string): void {
    for (const [id, { reader }] of this.#sources) if (!nodeId || reader === nodeId) this.withdraw(id);
    for (const [stream, from] of this.#readers) if (!nodeId || from === nodeId) stream.destroy(unavailable());
  }

  #keep(source: Omit<Source, "timer">, ms: number): string {
    const id = randomUUID();
    const timer = setTimeout(() => this.withdraw(id), ms).unref();
    this.#sources.set(id, { ...source, timer });
    return id;
  }

  async #answer(id: string, from: number): Promise<Buffer> {
    const source = this.#sources.get(id);
    try {
      if (!source) throw unavailable("What was to be read is not there any more.");
      source.timer.refresh();
      const { bytes, last } = await source.next(from);
      if (last) this.withdraw(id);
      return Buffer.concat([Buffer.of(last ? END : MORE), bytes]);
    } catch (error) {
      this.withdraw(id);
      return Buffer.concat([Buffer.of(FAILED), Buffer.from(portable(error as Error & Record<string, unknown>))]);
    }
  }
}
