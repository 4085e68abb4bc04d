/** The behaviour of one company's servers, and the number of companies, hardly affect others. */
import { createServer, type Server, type Socket } from "node:net";
import { query, transaction } from "../../../models/database/db.ts";
import { leaseChunks } from "../../../services/smtp-sender/claim/claim-statements.ts";
import type { ClaimableCampaign } from "../../../services/smtp-sender/delivery/rows.ts";
import { type Sending, useSending } from "../../support/sending.ts";
import type { SmtpServer } from "../../support/smtp-server.ts";

const sending = useSending();
let server: SmtpServer;

beforeEach(async () => {
  server = await sending.startServer();
});

async function campaigns(count: number, recipients: number, to: { host: string; port: number }, perSecond?: number) {
  const companyId = await sending.company();
  const smtpConfigId = await sending.smtpConfig(companyId, to, perSecond ? { maxPerSecond: perSecond } : {});
  const ids: string[] = [];
  for (let n = 0; n < count; n++) ids.push(await sending.campaign({ companyId, smtpConfigId, recipients, chunk: 20 }));
  return ids;
}

/** Accepts connections and never says a word. */
async function mute() {
  const sockets = new Set<Socket>();
  const listener: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
  });
  await new Promise<void>((done) => listener.listen(0, "127.0.0.1", done));
  const { port } = listener.address() as { port: number };
  const stop = async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((done) => listener.close(done));
  };
  return { host: "127.0.0.1", port, stop, connections: () => sockets.size };
}

async function sendsBeside(engine: ReturnType<Sending["engine"]>, batches: number): Promise<void> {
  await sending.until(
    async () => [...engine.servers.batches()].length,
    (n) => n >= batches,
  );
  const [id] = await campaigns(1, 100, server);
  expect(await sending.finished(id!, 5_000)).toMatchObject({ status: "completed", sent_count: 100 });
}

test("dozens of campaigns for a silent server delay nobody", async () => {
  const silent = await mute();
  await campaigns(40, 5, silent);
  await sendsBeside(sending.engine({ maxBatches: 20 }), 10);
  await sending.stopEngines();
  await silent.stop();
});

test("dozens of campaigns limited to one email per second delay nobody", async () => {
  const slow = await sending.startServer();
  await campaigns(40, 5, slow, 1);
  await sendsBeside(sending.engine({ maxBatches: 20 }), 10);
  await sending.stopEngines();
  await slow.stop();
});

test("more companies with silent servers than batches delay nobody", async () => {
  const silent = await mute();
  for (let n = 0; n < 8; n++) await campaigns(2, 5, silent);
  await sendsBeside(sending.engine({ maxBatches: 4 }), 8);
  await sending.stopEngines();
  await silent.stop();
});

test("a corrected configuration is used at once, without waiting for the silent old server", async () => {
  const silent = await mute();
  const companyId = await sending.company();
  const smtpConfigId = await sending.smtpConfig(companyId, silent, { maxConnections: 1 });
  const id = await sending.campaign({ companyId, smtpConfigId, recipients: 5 });
  const engine = sending.engine();
  await sending.until(
    async () => silent.connections(),
    (n) => n > 0,
  );
  await query("update smtp_configs set port = $3, updated_at = clock_timestamp() where id = $1 and company_id = $2", [
    smtpConfigId,
    companyId,
    server.port,
  ]);
  await engine.servers.reload(smtpConfigId);
  expect(await sending.finished(id, 5_000)).toMatchObject({ status: "completed", sent_count: 5 });
  await sending.stopEngines();
  await silent.stop();
});

test("many small campaigns of one company are all sent, concurrently", async () => {
  await campaigns(300, 1, server);
  sending.engine({ maxBatches: 20 });
  await server.received(300);
  expect(server.doubled).toEqual([]);
});

test("a campaign that is found comes with the number of recipients of its next chunk", async () => {
  const companyId = await sending.company();
  const smtpConfigId = await sending.smtpConfig(companyId, server);
  const small = await sending.campaign({ companyId, smtpConfigId, recipients: 3, chunk: 20 });
  const large = await sending.campaign({ companyId, smtpConfigId, recipients: 60, chunk: 20 });
  const found = await sending.claimableCampaignsOf([small, large]);
  const bringing = new Map(found.map(({ campaign_id, next_recipients }) => [campaign_id, next_recipients]));
  expect([bringing.get(small), bringing.get(large)]).toEqual([3, 20]);
});

test("leases lock campaigns in the order of their ids, as results do", async () => {
  const ids = (await campaigns(2, 5, server)).sort();
  const found = await sending.claimableCampaignsOf(ids);
  const backwards = [...found].sort((a: ClaimableCampaign, b: ClaimableCampaign) =>
    a.campaign_id < b.campaign_id ? 1 : -1,
  );
  const lock = (client: { query(text: string, values: unknown[]): Promise<unknown> }, id: string, how = "") =>
    client.query(`select from campaigns where id = $1 for no key update ${how}`, [id]);
  let leasing: Promise<unknown> | undefined;
  await transaction(async (first) => {
    await lock(first, ids[0]!);
    leasing = leaseChunks(backwards, "somebody", 5_000, null);
    await sending.until(
      () => sending.waitingForLocks(),
      (n) => n > 0,
    );
    // The holder of the first one must be able to get the second.
    await lock(first, ids[1]!, "nowait");
  });
  expect(await leasing).toHaveLength(2);
});

test("three senders with many campaigns in common do not deadlock", async () => {
  const total = 30 * 40;
  for (let n = 0; n < 30; n++) await campaigns(1, 40, server);
  const reported: string[] = [];
  for (let n = 0; n < 3; n++) {
    const { outage } = sending.engine();
    const report = outage.report.bind(outage);
    outage.report = (error) => {
      if (error) reported.push(error.message);
      report(error);
    };
  }
  await server.received(total);
  expect(reported).toEqual([]);
  expect(server.doubled).toEqual([]);
});
