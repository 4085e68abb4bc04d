/** Realistic servers: limits, drops, slowness, outages. Everything arrives in the end, and nobody gets it twice. */
import { query, queryOne } from "../../../models/database/db.ts";
import { useSending } from "../../support/sending.ts";
import { type SmtpServer, type SmtpServerOptions, startSmtpServer } from "../../support/smtp-server.ts";

const sending = useSending();

const server = (options: SmtpServerOptions = {}) => sending.startServer(options);

async function tenant(
  to: SmtpServer,
  recipients: number,
  options: { transactional?: boolean; maxConnections?: number } = {},
) {
  const companyId = await sending.company();
  const smtpConfigId = await sending.smtpConfig(companyId, to, { maxConnections: options.maxConnections ?? 5 });
  const id = await sending.campaign({
    companyId,
    smtpConfigId,
    recipients,
    transactional: options.transactional ?? false,
  });
  return { companyId, smtpConfigId, id };
}

test.each<[string, SmtpServerOptions]>([
  ["takes 100 mails per connection, then says 421", { maxMessagesPerConnection: 100 }],
  ["takes 7 mails per connection and no pipelining", { maxMessagesPerConnection: 7, pipelining: false }],
  ["allows two connections", { maxConnections: 2 }],
  ["offers no PIPELINING", { pipelining: false }],
  ["answers every command late", { delayMs: 2 }],
])("a server that %s", async (_name, options) => {
  const to = await server(options);
  const { id } = await tenant(to, 300);
  sending.engine({ retryBaseMs: 100 });
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 300, failed_count: 0 });
  expect(to.accepted).toBe(300);
  expect(to.doubled).toEqual([]);
  expect(to.protocolErrors).toEqual([]);
});

test("dropped connections leave possibly accepted emails unknown; all others arrive, and resume sends the rest", async () => {
  let dots = 0;
  let mails = 0;
  const to = await server({
    answer: ({ verb }) => {
      if (verb === "DOT" && ++dots % 50 === 0) return { drop: true, accept: dots % 100 === 0 };
      return verb === "MAIL" && ++mails % 40 === 39 ? { drop: true } : undefined;
    },
  });
  const { id } = await tenant(to, 1_000);
  sending.engine({ retryBaseMs: 100 });
  const counts = await sending.finished(id);
  const states = await sending.states(id);
  expect(counts.sent_count + counts.failed_count).toBe(1_000);
  expect(states.unknown).toBe(counts.failed_count);
  expect(states.unknown).toBeGreaterThan(0);
  expect(to.doubled).toEqual([]);
  const arrived = new Set(to.messages.map(({ messageId }) => messageId));
  for (const { id: mail, status } of await sending.recipients(id)) {
    if (status === 2) expect(arrived.has(`<${mail}@sender.example>`)).toBe(true);
  }
});

test("a transactional mail in doubt is sent again, with the same Message-ID", async () => {
  let first = true;
  const to = await server({
    answer: ({ verb }) => {
      if (verb !== "DOT" || !first) return undefined;
      first = false;
      return { drop: true, accept: true };
    },
  });
  const { id } = await tenant(to, 1, { transactional: true });
  sending.engine({ retryBaseMs: 100 });
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 1 });
  expect(to.messages).toHaveLength(2);
  expect(to.messages[0]!.messageId).toBe(to.messages[1]!.messageId);
});

test("an unavailable server gets pauses and loses no email; when it returns all arrives", async () => {
  const gone = await startSmtpServer();
  await gone.stop();
  const { id, smtpConfigId } = await tenant(gone, 100);
  sending.engine({ retryBaseMs: 1_000 });
  await sending.until(
    () => queryOne<{ last_error: string | null }>("select last_error from smtp_configs where id = $1", [smtpConfigId]),
    (row) => /ECONNREFUSED/.test(row?.last_error ?? ""),
  );
  expect(await sending.states(id)).toEqual({ queued: 100 });
  expect((await sending.recipients(id)).every(({ attempts }) => attempts === 0)).toBe(true);
  const back = await server({ port: gone.port });
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 100 });
  expect(back.accepted).toBe(100);
  expect(await queryOne("select failing_since, last_error from smtp_configs where id = $1", [smtpConfigId])).toEqual({
    failing_since: null,
    last_error: null,
  });
});

test("a server that refuses everyone temporarily gets a pause before the list is used up", async () => {
  let open = false;
  const to = await server({ answer: ({ verb }) => (verb === "MAIL" && !open ? "451 4.3.2 Busy" : undefined) });
  const { id, smtpConfigId } = await tenant(to, 1_000, { maxConnections: 2 });
  sending.engine({ retryBaseMs: 1_000 });
  await sending.until(
    () => queryOne<{ last_error: string | null }>("select last_error from smtp_configs where id = $1", [smtpConfigId]),
    (row) => /accepts no mail/.test(row?.last_error ?? ""),
  );
  expect((await sending.recipients(id)).filter(({ attempts }) => attempts > 0).length).toBeLessThan(150);
  open = true;
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 1_000 });
});

test("a hanging server delays nobody else, and stopping does not wait for it", async () => {
  const hung = await server({ answer: ({ verb }) => (verb === "DOT" ? { hang: true } : undefined) });
  const silent = await server({ answer: ({ verb }) => (verb === "CONNECT" ? { hang: true } : undefined) });
  const quick = await server();
  const first = await tenant(hung, 500);
  await tenant(silent, 500);
  const engine = sending.engine({ maxInDoubt: 60 });
  await sending.until(
    async () => engine.budget.held,
    (held) => held > 0,
  );
  const { id } = await tenant(quick, 600);
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 600 });
  expect(engine.budget.held).toBeLessThanOrEqual(20);
  // Bounded, although neither server ever answers.
  await engine.stop();
  // Emails without a reply when the sender stopped are in doubt; everything else of the hung tenant is unchanged.
  const { unknown = 0, queued } = await sending.states(first.id);
  expect(unknown).toBeLessThanOrEqual(10);
  expect(unknown + queued!).toBe(500);
});

test("a hundred mails of one company do not wait for thousands of another on the same node", async () => {
  const to = await server({ delayMs: { DOT: 5 } });
  const big = await tenant(to, 3_000);
  sending.engine();
  await to.received(200);
  const small = await tenant(to, 100);
  await sending.finished(small.id);
  const { sent_count } = await sending.counts(big.id);
  expect(sent_count).toBeLessThan(2_700);
  expect(to.doubled).toEqual([]);
});

test("transactional mail overtakes a newsletter on the same configuration", async () => {
  const to = await server({ delayMs: { DOT: 5 } });
  const companyId = await sending.company();
  const smtpConfigId = await sending.smtpConfig(companyId, to, { maxConnections: 3 });
  const bulk = await sending.campaign({ companyId, smtpConfigId, recipients: 3_000 });
  const engine = sending.engine();
  await to.received(100);
  const receipt = await sending.campaign({
    companyId,
    smtpConfigId,
    recipients: [{ email: "me@to.example" }],
    transactional: true,
  });
  engine.checkForWork();
  await sending.until(async () => to.messages.some(({ to: [address] }) => address === "me@to.example"), Boolean);
  expect(await sending.finished(receipt)).toMatchObject({ status: "completed" });
  expect((await sending.counts(bulk)).status).toBe("sending");
});

test("a paused company is skipped until it continues", async () => {
  const to = await server();
  const { id, companyId } = await tenant(to, 10);
  await query("update companies set sending_paused_at = now() where id = $1", [companyId]);
  const other = await tenant(to, 10);
  sending.engine();
  await sending.finished(other.id);
  expect(await sending.states(id)).toEqual({ queued: 10 });
  await query("update companies set sending_paused_at = null where id = $1", [companyId]);
  expect(await sending.finished(id)).toMatchObject({ status: "completed" });
});

test("max_per_second and max_connections are respected", async () => {
  const to = await server();
  const companyId = await sending.company();
  const smtpConfigId = await sending.smtpConfig(companyId, to, { maxConnections: 2, maxPerSecond: 20 });
  const id = await sending.campaign({ companyId, smtpConfigId, recipients: 50 });
  const startedAt = Date.now();
  sending.engine();
  await sending.finished(id);
  expect(to.peakConnections).toBeLessThanOrEqual(2);
  // Counted from the start: a stalled machine lets emails arrive together, but none before its second.
  const secondsTaken = to.messages.map(({ at }) => (at - startedAt) / 1_000).sort((a, b) => a - b);
  for (const [n, seconds] of secondsTaken.entries()) expect(seconds).toBeGreaterThan(Math.floor(n / 20) - 0.05);
});
