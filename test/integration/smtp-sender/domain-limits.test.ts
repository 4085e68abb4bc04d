/** `domain_limits`: what goes to one recipient domain, in any rolling minute and at a time, and that nothing else waits for it. */
import { query } from "../../../models/database/db.ts";
import type { DomainLimit } from "../../../models/smtp-config.ts";
import { type Recipient, useSending } from "../../support/sending.ts";
import type { SmtpServer } from "../../support/smtp-server.ts";

const sending = useSending();

/** The minute of these tests. */
const WINDOW_SECONDS = 2;
/** Counted at the server, where an email arrives a little after it was counted here. */
const ROLLING_MS = WINDOW_SECONDS * 1_000 - 500;
const LIMIT = 20;
const LIMITED = "limited.example";

/** Alternates between the domains. */
const recipientsOf = (domains: string[], each: number): Recipient[] =>
  Array.from({ length: each * domains.length }, (_, n) => ({ email: `r${n}@${domains[n % domains.length]}` }));

const arrivedAt = (server: SmtpServer, domain: string) =>
  server.messages
    .filter(({ to }) => to.some((address) => address.toLowerCase().endsWith(`@${domain}`)))
    .map(({ at }) => at)
    .sort((a, b) => a - b);

const mostWithin = (times: readonly number[], ms: number) =>
  Math.max(0, ...times.map((from) => times.filter((at) => at >= from && at < from + ms).length));

async function configuration(server: SmtpServer, limit: Omit<DomainLimit, "domain">) {
  const companyId = await sending.company();
  const domainLimits = [{ domain: LIMITED, ...limit }];
  return { companyId, smtpConfigId: await sending.smtpConfig(companyId, server, { domainLimits }) };
}

test("max_per_minute holds in any rolling window over all campaigns; other mail is sent at once, and no attempt counts twice", async () => {
  const server = await sending.startServer();
  const from = await configuration(server, { max_per_minute: LIMIT });
  const others = ["one.example", "two.example", "three.example", "four.example"];
  const first = await sending.campaign({ ...from, recipients: recipientsOf(["LIMITED.example", ...others], 35) });
  const second = await sending.campaign({ ...from, recipients: recipientsOf([LIMITED], 5) });
  sending.engine({ domainWindowSeconds: WINDOW_SECONDS });
  await server.received(4 * 35 + LIMIT);
  expect(arrivedAt(server, LIMITED)).toHaveLength(LIMIT);
  expect(await sending.finished(first)).toMatchObject({ status: "completed", sent_count: 175, failed_count: 0 });
  expect(await sending.finished(second)).toMatchObject({ status: "completed", sent_count: 5, failed_count: 0 });
  expect(mostWithin(arrivedAt(server, LIMITED), ROLLING_MS)).toBeLessThanOrEqual(LIMIT);
  expect(server.doubled).toEqual([]);
  const rows = [...(await sending.recipients(first)), ...(await sending.recipients(second))];
  expect(rows.filter(({ attempts }) => attempts !== 1)).toEqual([]);
});

test("copies count for their own domain", async () => {
  const server = await sending.startServer();
  const from = await configuration(server, { max_per_minute: 4 });
  const recipients = [1, 2, 3].map((n) => ({
    email: `r${n}@one.example`,
    cc: [`a${n}@${LIMITED}`],
    bcc: [`b${n}@${LIMITED}`],
  }));
  const id = await sending.campaign({ ...from, recipients });
  sending.engine({ domainWindowSeconds: WINDOW_SECONDS });
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 3 });
  await sending.until(
    async () => arrivedAt(server, LIMITED).length,
    (n) => n === 6,
  );
  expect(mostWithin(arrivedAt(server, LIMITED), ROLLING_MS)).toBe(4);
  expect(server.doubled).toEqual([]);
});

test("max_connections limits concurrent transactions with a domain, and its slow answers delay no other domain", async () => {
  const slowMs = 200;
  let open = 0;
  let most = 0;
  const server = await sending.startServer({
    answer: ({ verb, to }) => {
      if (!to.endsWith(`@${LIMITED}`)) return undefined;
      if (verb === "RCPT") most = Math.max(most, ++open);
      if (verb !== "DOT") return undefined;
      setTimeout(() => open--, slowMs - 50);
      return { reply: "250 2.0.0 ok", delayMs: slowMs };
    },
  });
  const from = await configuration(server, { max_connections: 2 });
  // Recipients of the domain come before all others.
  const id = await sending.campaign({
    ...from,
    recipients: [...recipientsOf([LIMITED], 30), ...recipientsOf(["one.example"], 200)],
    chunk: 30,
  });
  sending.engine();
  await sending.until(
    async () => arrivedAt(server, "one.example").length,
    (n) => n === 200,
  );
  expect(arrivedAt(server, LIMITED).length).toBeLessThan(30);
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 230 });
  expect(most).toBe(2);
  expect(server.doubled).toEqual([]);
});

test("lifting a limit releases waiting emails, and a new one applies to ready emails", async () => {
  const server = await sending.startServer({ delayMs: { DOT: 20 } });
  const from = await configuration(server, { max_per_minute: 5 });
  const id = await sending.campaign({ ...from, recipients: recipientsOf([LIMITED], 20) });
  const engine = sending.engine();
  await server.received(5);
  const waiting = `select count(*)::int n from sent_emails
    where next_attempt_at is not null and campaign_no = (select no from campaigns where id = $1)`;
  await sending.until(
    async () => (await query<{ n: number }>(waiting, [id]))[0]!.n,
    (n) => n === 15,
  );
  const setLimits = async (limits: DomainLimit[]) => {
    await query("update smtp_configs set domain_limits = $3, updated_at = now() where id = $1 and company_id = $2", [
      from.smtpConfigId,
      from.companyId,
      JSON.stringify(limits),
    ]);
    await engine.servers.reload(from.smtpConfigId);
  };
  await setLimits([]);
  // Emails are retried when due; a minute is too long for a test.
  await query("update sent_emails set next_attempt_at = now() where next_attempt_at > now()");
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 20 });
  const second = await sending.campaign({ ...from, recipients: recipientsOf([LIMITED], 300) });
  await server.received(40);
  const all = () =>
    query<{ n: number }>(
      `select count(*) n from sent_emails where next_attempt_at is null and status = 0
         and campaign_no = (select no from campaigns where id = $1)`,
      [second],
    );
  await setLimits([{ domain: LIMITED, max_per_minute: 1 }]);
  const before = server.accepted;
  await sending.until(
    async () => (await all())[0]!.n,
    (untouched) => untouched === 0,
  );
  // Emails held by connections, plus one.
  expect(server.accepted - before).toBeLessThanOrEqual(2 * 10 + 1);
});
