/** The memory of one company's emails in a sender is bounded; otherwise all companies would fail with it. */
import { query } from "../../../models/database/db.ts";
import { type plainMails, useSending } from "../../support/sending.ts";
import type { SmtpServer, SmtpServerOptions } from "../../support/smtp-server.ts";

const MB = 1024 * 1024;

const sending = useSending();
let server: SmtpServer;

async function campaign(recipients: number): Promise<string> {
  const companyId = await sending.company();
  const smtpConfigId = await sending.smtpConfig(companyId, server);
  return sending.campaign({ companyId, smtpConfigId, recipients, chunk: 500 });
}

const start = async (options: SmtpServerOptions) => {
  server = await sending.startServer({ keep: false, ...options });
};

/** Returns every nth recipient's values, with the given number of bytes. */
const fill = (id: string, nth: number, bytes: number) =>
  query(
    `update sent_emails set variables = jsonb_build_object('x', repeat('0123456789abcdef', $3 / 16))
     where campaign_no = (select no from campaigns where id = $1) and seq % $2 = 0`,
    [id, nth, bytes],
  );

test("campaigns of 16 MB of values each are not read ahead completely", async () => {
  await start({ answer: ({ verb }) => (verb === "CONNECT" ? { hang: true } : undefined) });
  for (let n = 0; n < 15; n++) await fill(await campaign(200), 1, 80_000);
  const before = process.memoryUsage().heapUsed;
  const engine = sending.engine();
  await sending.until(
    async () => [...engine.servers.batches()].length,
    (batches) => batches === 15,
  );
  await new Promise((done) => setTimeout(done, 1_500));
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(60 * MB);
  // Without this, the engines of the next tests would continue to read them.
  await query("update campaigns set error = 'Stopped by the test.' where error is null");
});

test.each([
  [1, 30_000],
  [7, 400_000],
  [199, 300_000],
])("every %ith recipient has %i bytes of values: all are sent to, once", async (nth, bytes) => {
  await start({});
  const id = await campaign(450);
  await fill(id, nth, bytes);
  sending.engine();
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 450 });
  expect([server.accepted, server.doubled]).toEqual([450, []]);
});

test("emails of a megabyte are held in memory by the dozen, not by the hundred", async () => {
  await start({ delayMs: { DOT: 1_500 } });
  const text = `${"x".repeat(76)}\r\n`.repeat(26_000);
  const render: typeof plainMails = async (_id, rows) =>
    rows.map(({ id }) => ({ ok: true, raw: `Message-ID: <${id}@x>\r\n\r\n${text}`, smtputf8: false, eightBit: false }));
  for (let n = 0; n < 12; n++) await campaign(100);
  const engine = sending.engine({ render });
  let most = 0;
  await sending.until(
    async () => {
      most = Math.max(most, engine.budget.held);
      return server.accepted;
    },
    (accepted) => accepted >= 60,
  );
  // 48 MB, plus the first group of each, whose size was unknown.
  expect(most * text.length).toBeLessThan(100 * MB);
  expect(most).toBeGreaterThanOrEqual(12);
});
