/**
 * During a database outage, as in a failover, running senders hand over nothing more, and write their results before
 * another sender takes the recipients.
 */
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { transaction } from "../../../models/database/db.ts";
import { type Sending, startSending } from "../../support/sending.ts";
import { type SmtpServer, startSmtpServer } from "../../support/smtp-server.ts";

let sending: Sending;
let server: SmtpServer;

beforeAll(async () => {
  sending = await startSending();
  server = await startSmtpServer({ delayMs: { DOT: 10 } });
});
afterEach(() => sending.stopEngines());
afterAll(async () => {
  await sending.stop();
  await server.stop();
});

async function databaseAway(ms: number): Promise<void> {
  const url = new URL(sending.databaseUrl);
  const name = url.pathname.slice(1);
  url.pathname = "/postgres";
  const admin = new pg.Client({ connectionString: url.href });
  await admin.connect();
  await admin.query(`alter database "${name}" allow_connections false`);
  await admin.query("select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [name]);
  await sleep(ms);
  await admin.query(`alter database "${name}" allow_connections true`);
  await admin.end();
}

test("two senders without a database for three leases send to all and leave nobody in doubt", async () => {
  const companyId = await sending.company();
  const smtpConfigId = await sending.smtpConfig(companyId, server, { maxConnections: 5 });
  const id = await sending.campaign({ companyId, smtpConfigId, recipients: 2_000, chunk: 100 });
  for (let n = 0; n < 2; n++) sending.engine({ leaseMs: 1_500 });
  await server.received(300);
  await databaseAway(4_500);
  expect(await sending.finished(id, 40_000)).toMatchObject({ status: "completed", sent_count: 2_000, failed_count: 0 });
  expect(server.doubled).toEqual([]);
}, 180_000);

test("ready emails wait while nothing can be written for two seconds, however long the lease lasts", async () => {
  const slow = await startSmtpServer({ delayMs: { DOT: 2 } });
  const companyId = await sending.company();
  const smtpConfigId = await sending.smtpConfig(companyId, slow, { maxConnections: 5 });
  const id = await sending.campaign({ companyId, smtpConfigId, recipients: 3_000, chunk: 3_000 });
  const engine = sending.engine({ leaseMs: 60_000, maxInDoubt: 200 });
  const batches = () => [...engine.servers.batches()];
  await slow.received(600);
  await sending.until(
    async () => batches().reduce((sum, { ready }) => sum + ready.length, 0),
    (ready) => ready > 50,
  );
  await transaction(async (client) => {
    await client.query("set local idle_in_transaction_session_timeout = 0");
    await client.query("select from send_chunks where campaign_id = $1 for update", [id]);
    // Sending all ready mails takes longer than the two seconds.
    slow.options.delayMs = { DOT: 700 };
    await sending.until(
      async () => engine.recorder.stalled && batches().every(({ handedOver }) => handedOver === 0),
      (waits) => waits,
    );
    const before = slow.accepted;
    expect(batches()[0]!.ready.length).toBeGreaterThan(0);
    await sleep(1_500);
    expect(slow.accepted).toBe(before);
  });
  slow.options.delayMs = { DOT: 2 };
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 3_000, failed_count: 0 });
  expect(slow.doubled).toEqual([]);
  await slow.stop();
}, 180_000);
