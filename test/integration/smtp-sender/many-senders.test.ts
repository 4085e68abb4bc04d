/**
 * Tests situations that duplicated or lost mail in other products: more senders, settings edited during a send, pauses.
 */
import { query } from "../../../models/database/db.ts";
import { useSending } from "../../support/sending.ts";
import type { SmtpServer } from "../../support/smtp-server.ts";

const RECIPIENTS = 1_500;

const sending = useSending();

const server = () => sending.startServer();

async function campaign(to: SmtpServer, maxConnections = 10) {
  const companyId = await sending.company();
  const smtpConfigId = await sending.smtpConfig(companyId, to, { maxConnections });
  const id = await sending.campaign({ companyId, smtpConfigId, recipients: RECIPIENTS, chunk: 50 });
  return { companyId, smtpConfigId, id };
}

const accepted = () => sending.servers.reduce((sum, { accepted: n }) => sum + n, 0);
const acceptedMoreThan = (n: number) =>
  sending.until(
    async () => accepted(),
    (seen) => seen > n,
  );

async function expectEachOnce(id: string): Promise<void> {
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: RECIPIENTS, failed_count: 0 });
  const to = sending.servers.flatMap(({ messages }) => messages.map((message) => message.to[0]));
  expect([to.length, new Set(to).size]).toEqual([RECIPIENTS, RECIPIENTS]);
}

test("three senders on one campaign all take part, and each recipient gets one email", async () => {
  const { id } = await campaign(await server());
  const engines = Array.from({ length: 3 }, () => sending.engine());
  await expectEachOnce(id);
  expect(engines.filter(({ counts }) => counts.sent > 0).length).toBeGreaterThan(1);
});

test("a configuration edited repeatedly during a send: nobody is lost or duplicated", async () => {
  const [first, second] = [await server(), await server()];
  const { id, smtpConfigId } = await campaign(first, 2);
  const engines = [sending.engine(), sending.engine()];
  for (const [n, { port }] of [second, first, second].entries()) {
    await acceptedMoreThan(150 * (n + 1));
    await query(
      "update smtp_configs set port = $2, max_connections = $3, updated_at = clock_timestamp() where id = $1",
      [smtpConfigId, port, 2 + n],
    );
    await Promise.all(engines.map((engine) => engine.servers.reload(smtpConfigId)));
  }
  await expectEachOnce(id);
  expect(second.accepted).toBeGreaterThan(0);
});

test("a company paused and continued repeatedly: nobody is lost or duplicated", async () => {
  const { id, companyId } = await campaign(await server(), 2);
  sending.engine();
  sending.engine();
  for (let n = 1; n <= 6; n++) {
    await acceptedMoreThan(n * 120);
    for (const paused of [true, false]) {
      await query("update companies set sending_paused_at = case when $2 then now() end where id = $1", [
        companyId,
        paused,
      ]);
    }
  }
  await expectEachOnce(id);
});

test("very many campaigns at once are all sent, and no more are held in memory than the limit", async () => {
  const to = await server();
  const ids: string[] = [];
  for (let company = 0; company < 10; company++) {
    const companyId = await sending.company();
    const smtpConfigId = await sending.smtpConfig(companyId, to);
    for (let n = 0; n < 20; n++) ids.push(await sending.campaign({ companyId, smtpConfigId, recipients: 3 }));
  }
  const engine = sending.engine({ maxBatches: 8 });
  let most = 0;
  await sending.until(
    async () => {
      most = Math.max(most, [...engine.servers.batches()].length);
      return accepted();
    },
    (seen) => seen === 3 * ids.length,
  );
  // A company without a batch still gets one.
  expect(most).toBeLessThanOrEqual(8 + 10);
  for (const id of ids) expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 3 });
  expect(to.doubled).toEqual([]);
});
