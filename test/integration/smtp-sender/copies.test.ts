/**
 * Every copy (cc, bcc) has an outcome, and none changes anything for its email. A copy that cannot be sent keeps nothing
 * waiting: its email was accepted, and is recorded.
 */
import { query } from "../../../models/database/db.ts";
import { SENT_EMAIL_STATUSES } from "../../../models/sent-email-status.ts";
import { type Recipient, useSending } from "../../support/sending.ts";
import type { Accepted, SmtpServer, SmtpServerOptions } from "../../support/smtp-server.ts";

const sending = useSending();
let server: SmtpServer;

interface CopyRow {
  email: string;
  kind: string;
  status: string;
  attempts: number;
  error: string | null;
  smtp_response: string | null;
  next_attempt_at: Date | null;
  sent_at: Date | null;
}

async function copiesOf(campaignId: string): Promise<CopyRow[]> {
  const sql = `select email, kind, status, attempts, error, smtp_response, next_attempt_at, sent_at
    from sent_email_copies where campaign_id = $1 order by seq, no`;
  const rows = await query<Omit<CopyRow, "status"> & { status: number }>(sql, [campaignId]);
  return rows.map((row) => ({ ...row, status: SENT_EMAIL_STATUSES[row.status]! }));
}

const FINAL = ["sent", "failed", "bounced", "suppressed", "unknown"];
const copiesSettled = (campaignId: string, n: number, timeoutMs = 30_000) =>
  sending.until(
    () => copiesOf(campaignId),
    (rows) => rows.length === n && rows.every(({ status }) => FINAL.includes(status)),
    timeoutMs,
  );
const statuses = (rows: readonly CopyRow[]) => Object.fromEntries(rows.map(({ email, status }) => [email, status]));
const envelopes = (messages: readonly Accepted[]) => messages.map(({ to }) => to.join(" "));

async function start(
  options: SmtpServerOptions,
  recipients: Recipient[],
  { transactional = false, maxConnections = 5 } = {},
): Promise<string> {
  server = await sending.startServer(options);
  const companyId = await sending.company();
  const smtpConfigId = await sending.smtpConfig(companyId, server, { maxConnections });
  return sending.campaign({ companyId, smtpConfigId, recipients, transactional });
}

const isCopy = (to: string) => /^b?cc/.test(to);

/** The connection ends behind the first email that is accepted, before its copy. */
async function dropsAfterFirst(after: (verb: string) => string | undefined) {
  let accepted = 0;
  server = await sending.startServer({
    auth: { user: "u", pass: "p" },
    answer: ({ verb }) => {
      if (accepted > 0) return after(verb);
      if (verb !== "DOT") return undefined;
      accepted++;
      return { reply: "250 2.0.0 Queued", drop: true };
    },
  });
  const companyId = await sending.company();
  const smtpConfigId = await sending.smtpConfig(companyId, server, { maxConnections: 1, username: "u", password: "p" });
  return sending.campaign({ companyId, smtpConfigId, recipients: [{ email: "a@to.example", cc: ["c@to.example"] }] });
}

test("a server that refuses the login from then on is not asked repeatedly", async () => {
  let logins = 0;
  const refuse = (verb: string) => {
    if (verb === "AUTH") logins++;
    return verb === "AUTH" ? "535 5.7.8 No" : undefined;
  };
  const id = await dropsAfterFirst(refuse);
  sending.engine();
  expect(await sending.finished(id, 5_000)).toMatchObject({ sent_count: 1, failed_count: 0 });
  expect(logins).toBeLessThanOrEqual(2);
});

test("a server that takes no connections for a while gets none meanwhile, and the copy arrives", async () => {
  const until = Date.now() + 2_500;
  const id = await dropsAfterFirst((verb) => (verb === "CONNECT" && Date.now() < until ? "421 later" : undefined));
  sending.engine({ retryBaseMs: 6_000 });
  await server.received(2);
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 1 });
  expect(server.messages.map(({ to }) => to)).toEqual([["a@to.example"], ["c@to.example"]]);
  expect(server.connections).toBeLessThanOrEqual(8);
});

test("the primary recipient counts as sent even if the server does not return", async () => {
  const id = await dropsAfterFirst((verb) => (verb === "CONNECT" ? "421 never" : undefined));
  sending.engine({ retryBaseMs: 60 });
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 1, failed_count: 0 });
  const [copy] = await copiesOf(id);
  expect(copy).toMatchObject({ email: "c@to.example", kind: "cc", status: "queued", attempts: 0, sent_at: null });
});

test("max_per_second applies to emails and their copies together", async () => {
  const PER_SECOND = 20;
  server = await sending.startServer();
  const companyId = await sending.company();
  const smtpConfigId = await sending.smtpConfig(companyId, server, { maxPerSecond: PER_SECOND });
  const recipients = Array.from({ length: 25 }, (_, n) => ({ email: `a${n}@to.example`, cc: [`c${n}@to.example`] }));
  const id = await sending.campaign({ companyId, smtpConfigId, recipients });
  const began = Date.now();
  sending.engine();
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 25 });
  expect(server.messages).toHaveLength(50);
  expect((await copiesOf(id)).map(({ status }) => status)).toEqual(Array(25).fill("sent"));
  // The time is measured from the start, not between two emails: on a busy machine the server may read late what was
  // sent in time.
  const firstAfter = (seconds: number) => server.messages[PER_SECOND * seconds]!.at - began;
  expect(firstAfter(1)).toBeGreaterThanOrEqual(950);
  expect(firstAfter(2)).toBeGreaterThanOrEqual(1_900);
});

describe.each([true, false])("outcomes of copies (pipelining %s):", (pipelining) => {
  test("each copy has the server's own reply to it; the deferred one is retried, the others are not", async () => {
    let deferred = 0;
    const id = await start(
      {
        pipelining,
        answer: ({ verb, to }) => {
          if (verb !== "RCPT") return undefined;
          if (to === "cc-gone@to.example") return "550 5.1.1 no such user";
          if (to === "cc-later@to.example" && deferred++ === 0) return "450 4.2.0 Greylisted";
          return undefined;
        },
      },
      [{ email: "a@to.example", cc: ["cc-gone@to.example", "cc-later@to.example"], bcc: ["bcc@to.example"] }],
    );
    sending.engine({ retryBaseMs: 500 });
    expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 1, failed_count: 0 });
    expect(await copiesOf(id)).toMatchObject([
      { kind: "cc", status: "bounced", attempts: 1, error: "Refused: 550 5.1.1 no such user" },
      { kind: "cc", status: "queued", attempts: 1, error: "Deferred: 450 4.2.0 Greylisted" },
      { kind: "bcc", status: "sent", attempts: 1, error: null, sent_at: expect.any(Date) },
    ]);
    const [, later] = await copiesSettled(id, 3);
    expect(later).toMatchObject({ status: "sent", attempts: 2, error: null, next_attempt_at: null });
    expect(envelopes(server.messages)).toEqual(["a@to.example", "bcc@to.example", "cc-later@to.example"]);
    expect(await query("select from email_events where campaign_id = $1", [id])).toEqual([]);
    expect(await query("select from suppressions")).toEqual([]);
    expect(await sending.counts(id)).toMatchObject({ status: "completed", sent_count: 1, failed_count: 0 });
  });

  test.each(["DATA", "DOT"])("all copies of a transaction that is deferred at %s are retried", async (stage) => {
    let deferred = 0;
    const id = await start(
      {
        pipelining,
        answer: ({ verb, to }) =>
          verb === stage && isCopy(to) && deferred++ === 0 ? "451 4.3.0 Try again later" : undefined,
      },
      [{ email: "a@to.example", cc: ["cc1@to.example", "cc2@to.example"] }],
    );
    sending.engine();
    expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 1 });
    expect(await copiesSettled(id, 2)).toMatchObject([
      { status: "sent", attempts: 2 },
      { status: "sent", attempts: 2 },
    ]);
    expect(envelopes(server.messages).sort()).toEqual(["a@to.example", "cc1@to.example", "cc2@to.example"]);
  });

  test("a server that takes two recipients per transaction gets further transactions at once", async () => {
    let inTransaction = 0;
    const id = await start(
      {
        pipelining,
        answer: ({ verb }) => {
          if (verb === "MAIL") inTransaction = 0;
          return verb === "RCPT" && ++inTransaction > 2 ? "452 4.5.3 Error: too many recipients" : undefined;
        },
      },
      [{ email: "a@to.example", cc: [1, 2, 3, 4, 5].map((n) => `cc${n}@to.example`) }],
      { maxConnections: 1 },
    );
    sending.engine();
    expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 1 });
    expect(await copiesOf(id)).toMatchObject(Array(5).fill({ status: "sent", attempts: 1 }));
    expect(envelopes(server.messages)).toEqual([
      "a@to.example",
      "cc1@to.example cc2@to.example",
      "cc3@to.example cc4@to.example",
      "cc5@to.example",
    ]);
  });
});

test("copies that no session accepts are deferred, and their emails are recorded", async () => {
  const id = await start(
    { answer: ({ verb, to }) => (verb === "RCPT" && isCopy(to) ? "452 4.5.3 Too many recipients" : undefined) },
    Array.from({ length: 10 }, (_, n) => ({ email: `r${n}@to.example`, cc: [`cc${n}@to.example`] })),
    { maxConnections: 1 },
  );
  sending.engine({ retryBaseMs: 60_000 });
  expect(await sending.finished(id, 20_000)).toMatchObject({ status: "completed", sent_count: 10 });
  expect((await copiesOf(id)).map(({ status }) => status)).toEqual(Array(10).fill("queued"));
});

test("only the copy that needs SMTPUTF8 fails at a server without it", async () => {
  const id = await start({ extensions: ["SIZE 20000000", "8BITMIME"] }, [
    { email: "a@to.example", cc: ["cc1@to.example", "用户@to.example"], bcc: ["bcc@to.example"] },
  ]);
  sending.engine();
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 1 });
  expect(statuses(await copiesOf(id))).toEqual({
    "cc1@to.example": "sent",
    "用户@to.example": "failed",
    "bcc@to.example": "sent",
  });
  expect((await copiesOf(id))[1]!.error).toMatch(/SMTPUTF8/);
  expect(envelopes(server.messages)).toEqual(["a@to.example", "cc1@to.example bcc@to.example"]);
});

test("a suppressed copy has the reason; transactional mail ignores an unsubscription", async () => {
  const recipients = [{ email: "a@to.example", cc: ["cc1@to.example", "cc2@to.example"], bcc: ["cc2@to.example"] }];
  const news = await start({}, recipients);
  const [{ company_id: companyId, smtp_config_id: smtpConfigId }] = (await query<{
    company_id: string;
    smtp_config_id: string;
  }>("select company_id, smtp_config_id from campaigns where id = $1", [news])) as [
    { company_id: string; smtp_config_id: string },
  ];
  const receipt = await sending.campaign({ companyId, smtpConfigId, recipients, transactional: true });
  await query(
    `insert into suppressions (company_id, email, kind)
     values ($1, 'CC1@to.example', 'complained'), ($1, 'cc2@to.example', 'unsubscribed')`,
    [companyId],
  );
  sending.engine();
  for (const id of [news, receipt]) expect(await sending.finished(id)).toMatchObject({ status: "completed" });
  expect(await copiesOf(news)).toMatchObject([
    { status: "suppressed", error: "The recipient has complained about mail.", attempts: 0 },
    { status: "suppressed", error: "The recipient has unsubscribed.", attempts: 0 },
  ]);
  expect(statuses(await copiesOf(receipt))).toEqual({ "cc1@to.example": "suppressed", "cc2@to.example": "sent" });
});

test("an address that is suppressed while its copy waits gets none", async () => {
  let deferred = 0;
  const id = await start(
    {
      answer: ({ verb, to }) =>
        verb === "RCPT" && isCopy(to) && deferred++ === 0 ? "450 4.2.0 Greylisted" : undefined,
    },
    [{ email: "a@to.example", cc: ["cc@to.example"] }],
  );
  sending.engine({ retryBaseMs: 1_000 });
  await sending.finished(id);
  await query(
    "insert into suppressions (company_id, email) select company_id, 'cc@to.example' from campaigns where id = $1",
    [id],
  );
  const [copy] = await copiesSettled(id, 1);
  expect(copy).toMatchObject({ status: "suppressed", attempts: 1, error: "The address or its domain is suppressed." });
  expect(server.messages).toHaveLength(1);
});

test.each([
  [false, "unknown", 1],
  [true, "sent", 2],
])("a missing reply to the end of a copy (transactional %s) means: %s", async (transactional, status, attempts) => {
  let dropped = 0;
  const id = await start(
    { answer: ({ verb, to }) => (verb === "DOT" && isCopy(to) && dropped++ === 0 ? { drop: true } : undefined) },
    [{ email: "a@to.example", cc: ["cc@to.example"] }],
    { transactional, maxConnections: 1 },
  );
  sending.engine();
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 1, failed_count: 0 });
  expect(await copiesSettled(id, 1)).toMatchObject([{ status, attempts }]);
});

test("a copy that is deferred every time fails after 12 attempts", async () => {
  const id = await start(
    { answer: ({ verb, to }) => (verb === "RCPT" && isCopy(to) ? "450 4.2.0 Greylisted" : undefined) },
    [{ email: "a@to.example", cc: ["cc@to.example"] }],
  );
  sending.engine({ retryBaseMs: 1 });
  expect(await copiesSettled(id, 1)).toMatchObject([
    { status: "failed", attempts: 12, error: "Given up after 12 attempts. Deferred: 450 4.2.0 Greylisted" },
  ]);
  expect(await sending.counts(id)).toMatchObject({ status: "completed", sent_count: 1, failed_count: 0 });
});

test("a server that takes no mail for now costs a copy no attempt", async () => {
  let refused = 0;
  const id = await start(
    {
      answer: ({ verb }) => (verb === "MAIL" && server.accepted > 0 && refused++ < 3 ? "451 4.3.2 Busy" : undefined),
    },
    [{ email: "a@to.example", cc: ["cc@to.example"] }],
  );
  sending.engine({ retryBaseMs: 200 });
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 1 });
  expect(await copiesSettled(id, 1)).toMatchObject([{ status: "sent", attempts: 1 }]);
  expect(refused).toBeGreaterThanOrEqual(3);
});

test("copies that wait for a configuration that is deleted fail", async () => {
  const id = await start(
    { answer: ({ verb, to }) => (verb === "RCPT" && isCopy(to) ? "450 4.2.0 Greylisted" : undefined) },
    [{ email: "a@to.example", cc: ["cc@to.example"] }],
  );
  sending.engine({ retryBaseMs: 500 });
  await sending.finished(id);
  await query("delete from smtp_configs where id = (select smtp_config_id from campaigns where id = $1)", [id]);
  await sending.stopEngines();
  sending.engine();
  expect(await copiesSettled(id, 1)).toMatchObject([
    { status: "failed", error: "The SMTP configuration was deleted." },
  ]);
  expect(await sending.counts(id)).toMatchObject({ status: "completed", sent_count: 1, error: null });
});

test("no copy is lost or sent twice: 300 emails with three copies each, a third of them deferred, over two senders", async () => {
  const seen = new Set<string>();
  const recipients = Array.from({ length: 300 }, (_, n) => ({
    email: `r${n}@to.example`,
    cc: [`cc${n}.0@to.example`, `cc${n}.1@to.example`],
    bcc: [`bcc${n}.2@to.example`],
  }));
  const isDeferred = (to: string) => /\.0@/.test(to) && seen.size < seen.add(to).size;
  const id = await start(
    { answer: ({ verb, to }) => (verb === "RCPT" && isDeferred(to) ? "450 4.2.0 Greylisted" : undefined) },
    recipients,
  );
  for (let n = 0; n < 2; n++) sending.engine({ retryBaseMs: 1_000 });
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 300, failed_count: 0 });
  const copies = await copiesSettled(id, 900);
  expect(copies.filter(({ status }) => status === "sent")).toHaveLength(900);
  expect(copies.filter(({ attempts }) => attempts === 2)).toHaveLength(300);
  expect([...server.counts.values()]).toEqual(Array(1_200).fill(1));
}, 60_000);

test("bulk mail does not delay copies that are due, nor they the bulk mail", async () => {
  const seen = new Set<string>();
  const id = await start(
    {
      delayMs: { DOT: 10 },
      answer: ({ verb, to }) =>
        verb === "RCPT" && isCopy(to) && seen.size < seen.add(to).size ? "450 4.2.0 Greylisted" : undefined,
    },
    Array.from({ length: 20 }, (_, n) => ({ email: `r${n}@to.example`, cc: [`cc${n}@to.example`] })),
    { maxConnections: 2 },
  );
  const [config] = await query<{ company_id: string; smtp_config_id: string }>(
    "select company_id, smtp_config_id from campaigns where id = $1",
    [id],
  );
  const bulk = { companyId: config!.company_id, smtpConfigId: config!.smtp_config_id, recipients: 1_000 };
  sending.engine({ retryBaseMs: 500 });
  await sending.finished(id);
  const bulkId = await sending.campaign(bulk);
  expect((await copiesSettled(id, 20)).map(({ status }) => status)).toEqual(Array(20).fill("sent"));
  expect((await sending.counts(bulkId)).status).not.toBe("completed");
  expect(await sending.finished(bulkId)).toMatchObject({ status: "completed", sent_count: 1_000 });
}, 60_000);
