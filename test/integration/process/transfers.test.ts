/**
 * Large transfers between nodes: uploads and messages, over a real NATS with default settings and a real PostgreSQL.
 */
import { randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { type Context, ServiceBroker } from "moleculer";
import { natsLink } from "../../../mixins/nats-link.middleware.ts";
import { NatsTransporter, READS_TRANSFERS } from "../../../mixins/nats-transporter.ts";
import { uploads } from "../../../mixins/uploads.middleware.ts";
import { closeDatabase, openDatabase, query } from "../../../models/database/db.ts";
import { purgeTransfers, readTransfer, storeTransfer } from "../../../models/statements/transfers.ts";
import { readConfig } from "../../../services/lib/config.ts";
import { notFound } from "../../../services/lib/errors.ts";
import { newId } from "../../../services/lib/ids.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { startNatsWith } from "../../support/nats-cluster.ts";

const MIB = 1024 ** 2;
const COMPANY = newId();

type Call = Context<{ text?: string }>;
const streamOf = (ctx: Call) => (ctx as unknown as { stream: Readable }).stream;
const stored = () => query<{ company_id: string }>("select distinct transfer_id, company_id from transfer_parts");

describe("transfers between two nodes", () => {
  let database: TestDatabase;
  let nats: Awaited<ReturnType<typeof startNatsWith>>;
  let near: ServiceBroker;
  let far: ServiceBroker;
  let seen: { company_id: string }[] = [];

  function node(nodeID: string, hasDatabase = true): ServiceBroker {
    const settings = readConfig({ TRANSPORTER: `nats://u:p@127.0.0.1:${nats.port}` }, { console: true });
    return new ServiceBroker({
      nodeID: `${nodeID}-${process.pid}`,
      logger: false,
      skipProcessEventRegistration: true,
      serializer: "JSONExt",
      metadata: hasDatabase ? { [READS_TRANSFERS]: true } : {},
      transporter: new NatsTransporter(settings) as never,
      middlewares: [natsLink(settings), uploads()],
    });
  }

  beforeAll(async () => {
    database = await createDatabase();
    openDatabase(database.url, 2);
    // Moleculer's own subjects are all that it needs.
    const rights = 'permissions: { publish: "MOL.>", subscribe: "MOL.>" }';
    nats = await startNatsWith(`authorization { users: [{ user: u, password: p, ${rights} }] }`);
    [near, far] = [node("near"), node("far")];
    far.createService({
      name: "far",
      actions: {
        digest: async (ctx: Call) => {
          seen = await stored();
          return (await buffer(streamOf(ctx))).toString("hex");
        },
        refuse: () => {
          throw notFound();
        },
        echo: (ctx: Call) => ctx.params,
      },
    });
    await Promise.all([near.start(), far.start()]);
    await near.waitForServices("far", 10_000);
  });
  afterAll(async () => {
    await Promise.all([near?.stop(), far?.stop()]);
    await nats?.stop();
    await closeDatabase();
    await database?.drop();
  });
  afterEach(async () => expect(await stored()).toEqual([]));

  const upload = (action: string, stream: Readable) =>
    near.call(action, {}, { stream, meta: { companyId: COMPANY } } as never);

  test("carry an upload's bytes unchanged, in chunks of any size, and remove them after use", async () => {
    const bytes = randomBytes(1_500_000);
    const chunks = [bytes.subarray(0, 1), bytes.subarray(1, 900_000), bytes.subarray(900_000)];
    expect(await upload("far.digest", Readable.from(chunks, { objectMode: false }))).toBe(bytes.toString("hex"));
    expect(seen).toMatchObject([{ company_id: COMPANY }]);
    expect(await upload("far.digest", Readable.from([], { objectMode: false }))).toBe("");
  });

  test("leave nothing of an upload that is refused before it is read", async () => {
    const refused = upload("far.refuse", Readable.from([Buffer.alloc(MIB)], { objectMode: false }));
    await expect(refused).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("fail with the error of an upload whose source breaks, and leave nothing", async () => {
    const broken = Readable.from(
      (async function* () {
        yield Buffer.alloc(2 * MIB);
        throw new Error("the disk is gone");
      })(),
      { objectMode: false },
    );
    await expect(upload("far.digest", broken)).rejects.toThrow("the disk is gone");
  });

  test("carry requests and answers of any size", async () => {
    const text = randomBytes(5 * MIB).toString("hex");
    const echoed = await Promise.all([near.call("far.echo", { text }), near.call("far.echo", { text: "[[small" })]);
    expect(echoed[0]).toEqual({ text });
    expect(echoed[1]).toEqual({ text: "[[small" });
  });

  test("carry large answers to a node without the database over NATS, up to its limit", async () => {
    const operator = node("operator", false);
    await operator.start();
    await operator.waitForServices("far", 10_000);
    const text = "x".repeat(700_000);
    expect(await operator.call("far.echo", { text })).toEqual({ text });
    await operator.stop();
  });

  test("report a missing part as an error instead of the end, and a sweep removes orphans after an hour", async () => {
    const transfer = await storeTransfer([Buffer.alloc(MIB)], COMPANY);
    expect(transfer.parts).toBe(Math.ceil(MIB / (48 * 1024)));
    await purgeTransfers(Date.now() + 3_500_000);
    expect(await buffer(readTransfer(transfer))).toHaveLength(MIB);
    await expect(buffer(readTransfer({ ...transfer, companyId: newId() }))).rejects.toMatchObject({
      code: "UNAVAILABLE",
    });
    await purgeTransfers(Date.now() + 3_700_000);
    await expect(buffer(readTransfer(transfer))).rejects.toMatchObject({ code: "UNAVAILABLE" });
  });
});
