/** Failures of a server that stop its campaigns; and the number of statements of a round of claiming. */
import pg from "pg";
import { query, queryOne } from "../../../models/database/db.ts";
import { getCampaign, listCampaigns } from "../../../services/campaigns/list-campaigns.ts";
import { asOwner, useSending } from "../../support/sending.ts";
import { startSmtpServer } from "../../support/smtp-server.ts";

const sending = useSending();

interface ServerRow {
  failing_for_hours: number | null;
  last_error: string | null;
}

const serverRow = (id: string) =>
  queryOne<ServerRow & Record<string, unknown>>(
    `select extract(epoch from now() - failing_since)::float8 / 3600 as failing_for_hours, last_error
     from smtp_configs where id = $1`,
    [id],
  );

const fails = (id: string, since: string, backOffUntil: string) =>
  query(
    "update smtp_configs set failing_since = now() + $2::interval, last_error_at = now() + $3::interval, backoff_until = now() + $3::interval where id = $1",
    [id, since, backOffUntil],
  );

async function tenantOf(server: { host: string; port: number }, recipients = 20) {
  const companyId = await sending.company();
  const smtpConfigId = await sending.smtpConfig(companyId, server);
  const id = await sending.campaign({ companyId, smtpConfigId, recipients });
  return { companyId, smtpConfigId, id };
}

async function nobodyThere() {
  const gone = await startSmtpServer();
  await gone.stop();
  return gone;
}

test("a server that failed at every attempt for 24 hours stops its campaigns", async () => {
  const { id, smtpConfigId } = await tenantOf(await nobodyThere());
  await fails(smtpConfigId, "-25 hours", "-1 minute");
  sending.engine();
  expect((await sending.finished(id)).error).toMatch(/could not be used for 24 hours/);
});

test("a server that failed a day ago and was not tried since starts with a new count", async () => {
  const { id, smtpConfigId } = await tenantOf(await nobodyThere());
  await fails(smtpConfigId, "-25 hours", "-3 hours");
  sending.engine();
  const row = await sending.until(
    () => serverRow(smtpConfigId),
    (seen) => /ECONNREFUSED/.test(seen?.last_error ?? ""),
  );
  expect(row!.failing_for_hours).toBeLessThan(1);
  expect(await sending.counts(id)).toMatchObject({ error: null });
});

test("a server that accepts mail here counts as working, whatever another node reports", async () => {
  const server = await sending.startServer({ delayMs: { DOT: 20 } });
  const { smtpConfigId } = await tenantOf(server, 5_000);
  const engine = sending.engine();
  await server.received(5);
  await fails(smtpConfigId, "-25 hours", "-1 minute");
  await server.received(server.accepted + 5);
  await engine.servers.reload(smtpConfigId);
  await sending.until(
    () => serverRow(smtpConfigId),
    (row) => row!.failing_for_hours === null,
  );
});

test("a server that stops working after it accepted email has been failing since then at the most", async () => {
  const server = await sending.startServer({ delayMs: { DOT: 20 } });
  const { id, smtpConfigId } = await tenantOf(server, 5_000);
  sending.engine();
  await server.received(5);
  await fails(smtpConfigId, "-25 hours", "-1 minute");
  await server.stop();
  sending.servers.splice(0);
  await sending.until(
    () => serverRow(smtpConfigId),
    (seen) => /ECONNREFUSED/.test(seen?.last_error ?? ""),
  );
  expect((await serverRow(smtpConfigId))!.failing_for_hours).toBeLessThan(1);
  expect((await sending.counts(id)).error).toBeNull();
});

test.each([
  ["CONNECT", "421 Too busy"],
  ["MAIL", "451 4.7.1 Try again later"],
])("a campaign that waits for its server says so until it continues: %s answered with %s", async (verb, text) => {
  let away = true;
  const server = await sending.startServer({
    answer: (command) => (away && command.verb === verb ? text : undefined),
  });
  const { id, companyId } = await tenantOf(server);
  const other = await tenantOf(await sending.startServer());
  sending.engine();
  const waiting = await sending.until(
    () => getCampaign(asOwner(companyId, { id })),
    ({ error }) => error !== null,
  );
  expect(waiting).toMatchObject({ status: expect.stringMatching(/pending|sending/), sent_count: 0 });
  expect(waiting.error).toMatch(new RegExp(`^Waiting for the SMTP server: .*${text}`));
  expect((await listCampaigns(asOwner(companyId, { campaign_type: "custom" }))).results).toEqual([
    expect.objectContaining({ id, error: waiting.error }),
  ]);
  // A stored error would stop it.
  expect((await sending.counts(id)).error).toBeNull();
  await sending.finished(other.id);
  expect(await getCampaign(asOwner(other.companyId, { id: other.id }))).toMatchObject({
    status: "completed",
    error: null,
  });
  away = false;
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 20 });
  expect(await getCampaign(asOwner(companyId, { id }))).toMatchObject({ error: null });
});

test("a damaged stored password stops only its own campaign", async () => {
  const server = await sending.startServer();
  const broken = await tenantOf(server);
  await query("update smtp_configs set password_sealed = substr(password_sealed, 1, 9) where id = $1", [
    broken.smtpConfigId,
  ]);
  const { id } = await tenantOf(server);
  sending.engine();
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 20 });
  expect(await sending.finished(broken.id)).toMatchObject({
    status: "failed",
    error: "The stored SMTP password can no longer be read. Enter it again.",
  });
});

test("a round of claiming takes one statement to read all configurations, and one to begin all campaigns", async () => {
  const TENANTS = 30;
  const server = await sending.startServer();
  const ids: string[] = [];
  for (let n = 0; n < TENANTS; n++) ids.push((await tenantOf(server, 1)).id);
  const statements: string[] = [];
  const original = pg.Client.prototype.query;
  const spy = jest.spyOn(pg.Client.prototype, "query").mockImplementation(function (
    this: pg.Client,
    ...args: unknown[]
  ) {
    const [first] = args as [string | { text?: string }];
    statements.push(typeof first === "string" ? first : (first?.text ?? ""));
    return (original as (...all: unknown[]) => unknown).apply(this, args);
  } as never);
  try {
    sending.engine();
    for (const id of ids) expect(await sending.finished(id)).toMatchObject({ status: "completed" });
  } finally {
    spy.mockRestore();
  }
  const reads = statements.filter((text) => text.includes("password_sealed"));
  const moves = statements.filter((text) => /update campaigns c set last_turn_at = now\(\), status =/.test(text));
  for (const { length } of [reads, moves]) {
    expect(length).toBeGreaterThan(0);
    expect(length).toBeLessThan(TENANTS / 3);
  }
});
