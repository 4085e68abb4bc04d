/** An orderly stop at any point leaves no lease and nobody in doubt. */
import { query, queryOne } from "../../../models/database/db.ts";
import { plainMails, useSending } from "../../support/sending.ts";
import type { SmtpServer } from "../../support/smtp-server.ts";

const sending = useSending();
let server: SmtpServer;

beforeEach(async () => {
  server = await sending.startServer();
});

test("a stop during rendering returns marked recipients", async () => {
  const companyId = await sending.company();
  const smtpConfigId = await sending.smtpConfig(companyId, server);
  const id = await sending.campaign({ companyId, smtpConfigId, recipients: 50 });
  const render: typeof plainMails = async (campaignId, rows) => {
    await new Promise((done) => setTimeout(done, 600));
    return plainMails(campaignId, rows);
  };
  const engine = sending.engine({ render });
  await sending.until(
    () => queryOne<{ n: number }>("select max(marked_to) n from send_chunks where campaign_id = $1", [id]),
    (row) => row!.n > 0,
  );
  await engine.stop();
  expect(await query("select state, owner, marked_to from send_chunks where campaign_id = $1", [id])).toEqual([
    { state: 0, owner: null, marked_to: 0 },
  ]);
  sending.engine();
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 50 });
  expect(server.doubled).toEqual([]);
});

test("a sender waits for a mail server that replies later than a lease, and no other sender takes its recipient", async () => {
  const { promise: handedOver, resolve } = Promise.withResolvers<void>();
  const slow = await sending.startServer({
    delayMs: { DOT: 5_000 },
    answer: ({ verb }) => void (verb === "DOT" && resolve()),
  });
  const companyId = await sending.company();
  const smtpConfigId = await sending.smtpConfig(companyId, slow);
  const id = await sending.campaign({ companyId, smtpConfigId, recipients: 1 });
  const stopping = sending.engine({ leaseMs: 2_000, stopMs: 40_000 });
  await handedOver;
  const other = sending.engine({ leaseMs: 2_000 });
  await stopping.stop();
  await other.recover();
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 1, failed_count: 0 });
  expect(slow.doubled).toEqual([]);
  expect(slow.accepted).toBe(1);
});
