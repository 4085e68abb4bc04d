/** What goes between two nodes and is large: streams in both directions, and messages. Over a real NATS with its defaults. */
import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { type Context, ServiceBroker, Transporters } from "moleculer";
import { natsLink } from "../../../mixins/nats-link.middleware.ts";
import { NatsTransporter } from "../../../mixins/nats-transporter.ts";
import { streams } from "../../../mixins/streams.middleware.ts";
import { readConfig } from "../../../services/lib/config.ts";
import { notFound } from "../../../services/lib/errors.ts";
import { startNatsWith } from "../../support/nats-cluster.ts";
import { type SilentProxy, startSilentProxy } from "../../support/silent-proxy.ts";

const MIB = 1024 ** 2;
/** One piece at each end, one on its way, and what a stream reads ahead by itself. */
const AHEAD_BYTES = 2 * MIB;

/** Chunks without an end, with a count of the bytes that were taken from it. */
function endless(chunkBytes = 64 * 1024) {
  const source = { bytes: 0, closed: false };
  const chunk = Buffer.alloc(chunkBytes);
  const stream = new Readable({
    read() {
      source.bytes += chunk.length;
      this.push(chunk);
    },
    destroy(error, done) {
      source.closed = true;
      done(error);
    },
  });
  return Object.assign(source, { stream });
}

async function until(what: string, condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`Not within 30 s: ${what}`);
    await sleep(10);
  }
}

async function take(stream: NodeJS.ReadableStream, bytes: number): Promise<number> {
  let taken = 0;
  for await (const chunk of (stream as Readable).iterator({ destroyOnReturn: false })) {
    taken += (chunk as Buffer).length;
    if (taken >= bytes) break;
  }
  return taken;
}

type Call = Context<{ bytes?: number; text?: string }>;
const streamOf = (ctx: Call) => (ctx as unknown as { stream: Readable }).stream;

describe("between two nodes", () => {
  let nats: Awaited<ReturnType<typeof startNatsWith>>;
  let proxy: SilentProxy;
  let near: ServiceBroker;
  let far: ServiceBroker;
  let source: ReturnType<typeof endless>;
  let received: Readable | undefined;
  let release = Promise.withResolvers<void>();

  function node(nodeID: string, url: string): ServiceBroker {
    const settings = readConfig({ TRANSPORTER: url }, { console: true });
    return new ServiceBroker({
      nodeID: `${nodeID}-${process.pid}`,
      logger: false,
      skipProcessEventRegistration: true,
      serializer: "JSONExt",
      transporter: new NatsTransporter(settings) as never,
      heartbeatInterval: 1,
      heartbeatTimeout: 3,
      middlewares: [natsLink(settings), streams()],
    });
  }

  beforeAll(async () => {
    // Rights on Moleculer's own subjects are all that is needed.
    const rights = 'permissions: { publish: "MOL.>", subscribe: "MOL.>" }';
    nats = await startNatsWith(`authorization { users: [{ user: u, password: p, ${rights} }] }`);
    proxy = await startSilentProxy(nats.port);
    near = node("near", `nats://u:p@127.0.0.1:${nats.port}`);
    far = node("far", `nats://u:p@127.0.0.1:${proxy.port}`);
    far.createService({
      name: "far",
      actions: {
        keep: async (ctx: Call) => {
          received = streamOf(ctx);
          const taken = ctx.params.bytes ? await take(received, ctx.params.bytes) : 0;
          await release.promise;
          return taken;
        },
        digest: async (ctx: Call) => (await buffer(streamOf(ctx))).toString("hex"),
        give: () => source.stream,
        pieces: () => Readable.from(["one,", Buffer.from("two,"), "x".repeat(700_000)], { objectMode: false }),
        failing: (ctx: Call) =>
          Readable.from(
            (async function* () {
              if (ctx.params.bytes) yield Buffer.alloc(ctx.params.bytes);
              throw notFound();
            })(),
            { objectMode: false },
          ),
        echo: (ctx: Call) => ctx.params,
      },
    });
    await Promise.all([near.start(), far.start()]);
    await near.waitForServices("far", 10_000);
  });
  afterAll(async () => {
    await Promise.all([near?.stop(), far?.stop()]);
    await proxy?.stop();
    await nats?.stop();
  });
  beforeEach(() => {
    source = endless();
    release = Promise.withResolvers();
  });

  const upload = (action: string, stream: Readable, params = {}) =>
    near.call(action, params, { stream, timeout: 60_000 } as never);

  test("an upload is read no faster than its receiver reads, however long that takes", async () => {
    const call = upload("far.keep", source.stream, { bytes: 3 * MIB });
    await until("the receiver has what it takes", () => source.bytes >= 3 * MIB);
    // Calls beside it go through: nothing is queued before them.
    for (let n = 0; n < 20; n++) expect(await near.call("far.echo", { n })).toEqual({ n });
    expect(source.bytes).toBeLessThan(3 * MIB + AHEAD_BYTES);
    release.resolve();
    expect(await call).toBeGreaterThanOrEqual(3 * MIB);
    await until("the file is closed", () => source.closed);
  });

  test("of an upload that is never read nothing leaves, and it may go to another node", async () => {
    const call = upload("far.keep", source.stream);
    await near.call("far.echo", {});
    expect(source.bytes).toBe(0);
    release.resolve();
    expect(await call).toBe(0);
    expect(source.closed).toBe(false);
    expect(await upload("far.keep", source.stream, { bytes: MIB })).toBeGreaterThanOrEqual(MIB);
    await until("the file is closed", () => source.closed);
  });

  test("a download is read no faster than its reader takes it, and closed when that leaves", async () => {
    const stream = (await near.call("far.give")) as Readable;
    await take(stream, 3 * MIB);
    for (let n = 0; n < 20; n++) await near.call("far.echo", { n });
    expect(source.bytes).toBeLessThan(3 * MIB + AHEAD_BYTES);
    stream.destroy();
    await until("the source is closed", () => source.closed);
  });

  test("bytes arrive as they were: text, chunks of all sizes, nothing at all", async () => {
    const text = (await buffer((await near.call("far.pieces")) as Readable)).toString();
    expect(text).toBe(`one,two,${"x".repeat(700_000)}`);
    const bytes = randomBytes(1_500_000);
    const chunks = [bytes.subarray(0, 1), bytes.subarray(1, 900_000), bytes.subarray(900_000)];
    expect(await upload("far.digest", Readable.from(chunks, { objectMode: false }))).toBe(bytes.toString("hex"));
    expect(await upload("far.digest", Readable.from([], { objectMode: false }))).toBe("");
  });

  test("what fails at the source fails at the reader with the same code: at once, and after some megabytes", async () => {
    for (const bytes of [0, 2 * MIB]) {
      const stream = (await near.call("far.failing", { bytes })) as Readable;
      await expect(buffer(stream)).rejects.toMatchObject({ name: "ServiceError", code: "NOT_FOUND" });
    }
    const broken = new Readable({ read() {} });
    const call = upload("far.digest", broken);
    broken.destroy(new Error("the disk is gone"));
    await expect(call).rejects.toThrow("the disk is gone");
  });

  test("a message is as large as it needs to be, as a question and as an answer", async () => {
    const text = randomBytes(5 * MIB).toString("hex");
    const echoed = await Promise.all([near.call("far.echo", { text }), near.call("far.echo", { text: "[[small" })]);
    expect(echoed[0]).toEqual({ text });
    expect(echoed[1]).toEqual({ text: "[[small" });
  });

  test("with a node of an older version streams pass as they did, in both directions", async () => {
    const old = new ServiceBroker({
      nodeID: `old-${process.pid}`,
      logger: false,
      skipProcessEventRegistration: true,
      serializer: "JSONExt",
      transporter: new Transporters.NATS({ url: `nats://u:p@127.0.0.1:${nats.port}` }) as never,
    });
    old.createService({
      name: "old",
      actions: {
        digest: async (ctx: Call) => (await buffer(streamOf(ctx))).toString("hex"),
        give: () => Readable.from([Buffer.from("old")], { objectMode: false }),
      },
    });
    await old.start();
    try {
      await Promise.all([near.waitForServices("old", 10_000), old.waitForServices("far", 10_000)]);
      const bytes = randomBytes(300_000);
      const given = () => ({ stream: Readable.from([bytes], { objectMode: false }), timeout: 20_000 }) as never;
      expect(await near.call("old.digest", {}, given())).toBe(bytes.toString("hex"));
      expect(await old.call("far.digest", {}, given())).toBe(bytes.toString("hex"));
      expect((await buffer((await near.call("old.give")) as Readable)).toString()).toBe("old");
      expect((await buffer((await old.call("far.pieces")) as Readable)).length).toBe(700_008);
    } finally {
      await old.stop();
    }
  });

  test("a node that vanishes ends what it reads and what is read from it", async () => {
    const other = endless();
    const call = upload("far.keep", other.stream, { bytes: 1 }).catch((error: Error) => error);
    const stream = (await near.call("far.give")) as Readable;
    await take(stream, MIB);
    const ended = new Promise<Error>((resolve) => stream.on("error", resolve));
    proxy.swallow();
    expect(await call).toMatchObject({ name: "RequestRejectedError" });
    expect(await ended).toMatchObject({ code: "UNAVAILABLE" });
    expect(other.closed).toBe(true);
    await until("the other side gave up", () => source.closed && received!.destroyed);
    proxy.pass();
    release.resolve();
    await near.waitForServices("far", 20_000);
  });
});
