/** Tests servers' replies and their effects on recipients, campaigns and addresses. */
import { query } from "../../../models/database/db.ts";
import { resume } from "../../../services/campaigns/lifecycle/resume.ts";
import type { Ctx } from "../../../services/lib/caller.ts";
import type { Rendered } from "../../../services/renderer/contract.ts";
import type { RecipientRow } from "../../../services/smtp-sender/delivery/rows.ts";
import { type Sending, useSending } from "../../support/sending.ts";
import type { SmtpServer, SmtpServerOptions } from "../../support/smtp-server.ts";

const sending = useSending();
let server: SmtpServer;
let companyId: string;
let smtpConfigId: string;

async function start(options: SmtpServerOptions = {}, login: Parameters<Sending["smtpConfig"]>[2] = {}) {
  server = await sending.startServer(options);
  companyId = await sending.company();
  smtpConfigId = await sending.smtpConfig(companyId, server, login);
}

const campaign = (recipients: Parameters<Sending["campaign"]>[0]["recipients"], transactional = false) =>
  sending.campaign({ companyId, smtpConfigId, recipients, transactional, chunk: 50 });

const isTo = (n: number, to: string) => Number(/\d+/.exec(to)?.[0]) % 10 === n;

test("deferred recipients are retried until accepted, and delay nobody else", async () => {
  const seen = new Map<string, number>();
  await start({
    answer: ({ verb, to }) => {
      if (verb !== "RCPT" || !(isTo(1, to) || isTo(2, to) || isTo(3, to))) return undefined;
      seen.set(to, (seen.get(to) ?? 0) + 1);
      return seen.get(to)! < 3 ? "450 4.2.0 Greylisted" : undefined;
    },
  });
  const id = await campaign(200);
  sending.engine({ retryBaseMs: 100 });
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 200, failed_count: 0 });
  expect(server.doubled).toEqual([]);
  expect(new Set(seen.values())).toEqual(new Set([3]));
  const tries = (await sending.recipients(id)).map(({ attempts }) => attempts);
  expect(tries.filter((n) => n === 3)).toHaveLength(60);
  expect(tries.filter((n) => n === 1)).toHaveLength(140);
});

test.each([false, true])(
  "the fifth soft refusal in a row suppresses the address, and a delivery restarts the count; subscriber: %s",
  async (isSubscriber) => {
    let isFull = true;
    await start({ answer: ({ verb }) => (verb === "RCPT" && isFull ? "552 5.2.2 Mailbox full" : undefined) });
    if (isSubscriber)
      await query("insert into subscribers (company_id, email) values ($1, 'full@to.example')", [companyId]);
    sending.engine();
    const once = async (full: boolean) => {
      isFull = full;
      await sending.finished(await campaign([{ email: "full@to.example" }]));
    };
    const suppressed = () => query("select email, kind from suppressions where company_id = $1", [companyId]);
    for (const full of [true, true, true, true, false, true, true, true, true]) await once(full);
    expect(await suppressed()).toEqual([]);
    await once(true);
    expect(await suppressed()).toEqual([{ email: "full@to.example", kind: "bounced" }]);
  },
);

test("a hard bounce suppresses the address and records the event; soft and block do not", async () => {
  const answers: Record<string, string> = {
    "hard@to.example": "550 5.1.1 User unknown",
    "full@to.example": "552 5.2.2 Mailbox full",
    "spam@to.example": "550 5.7.1 Rejected as spam",
    "odd@to.example": "550 5.4.4 No route",
  };
  await start({ answer: ({ verb, to }) => (verb === "RCPT" ? answers[to] : undefined) });
  await query("insert into subscribers (company_id, email) values ($1, 'Hard@to.example')", [companyId]);
  const id = await campaign([...Object.keys(answers), "ok@to.example"].map((email) => ({ email })));
  sending.engine();
  expect(await sending.finished(id)).toMatchObject({ status: "partial", sent_count: 1, failed_count: 4 });
  expect(await sending.states(id)).toEqual({ sent: 1, bounced: 1, failed: 3 });
  const events = await query<{ recipient: string; metadata: object }>(
    "select recipient, metadata from email_events where company_id = $1 order by recipient",
    [companyId],
  );
  expect(events).toEqual([
    {
      recipient: "full@to.example",
      metadata: {
        bounce_type: "soft",
        source: "smtp",
        smtp_code: 552,
        enhanced_code: "5.2.2",
        diagnostic: "552 5.2.2 Mailbox full",
      },
    },
    {
      recipient: "hard@to.example",
      metadata: {
        bounce_type: "hard",
        source: "smtp",
        smtp_code: 550,
        enhanced_code: "5.1.1",
        diagnostic: "550 5.1.1 User unknown",
      },
    },
    {
      recipient: "spam@to.example",
      metadata: {
        bounce_type: "block",
        source: "smtp",
        smtp_code: 550,
        enhanced_code: "5.7.1",
        diagnostic: "550 5.7.1 Rejected as spam",
      },
    },
  ]);
  expect(await query("select email, kind from suppressions where company_id = $1", [companyId])).toEqual([
    { email: "hard@to.example", kind: "bounced" },
  ]);
  expect(await query("select status from subscribers where company_id = $1", [companyId])).toEqual([
    { status: "bounced" },
  ]);
});

describe("the same refusal of 20 recipients in a row stops the campaign and suppresses nobody:", () => {
  const none = async () => {
    expect(await query("select email from suppressions where company_id = $1", [companyId])).toEqual([]);
    expect(
      await query("select from email_events where company_id = $1 and metadata->>'bounce_type' = 'hard'", [companyId]),
    ).toEqual([]);
  };

  test.each([
    ["RCPT", "550 Administrative prohibition"],
    ["DOT", "550 Administrative prohibition"],
    ["DOT", "554 5.7.1 Blocked, see our policy"],
    ["RCPT", "553 sorry, that domain isn't in my list of allowed rcpthosts (#5.7.1)"],
    ["RCPT", "550 Daily quota exceeded"],
    ["DATA", "554 Transaction failed"],
  ])("%s: %s", async (verb, text) => {
    await start({ answer: (command) => (command.verb === verb ? text : undefined) }, { maxConnections: 2 });
    const id = await campaign(1_000);
    sending.engine({ maxInDoubt: 20 });
    const counts = await sending.finished(id);
    expect(counts).toMatchObject({ status: "failed", sent_count: 0, failed_count: 1_000 });
    expect(counts.error).toContain(`"${text}"`);
    const tried = (await sending.recipients(id)).filter(({ attempts }) => attempts > 0);
    expect(tried.length).toBeGreaterThanOrEqual(20);
    expect(tried.length).toBeLessThanOrEqual(60);
    await none();
  });

  test("counted over all nodes", async () => {
    await start({ answer: ({ verb }) => (verb === "RCPT" ? "550 No" : undefined) }, { maxConnections: 2 });
    const id = await campaign(300);
    for (let n = 0; n < 2; n++) sending.engine({ maxInDoubt: 8, pollMs: 20 });
    await sending.finished(id);
    const tried = (await sending.recipients(id)).filter(({ attempts }) => attempts > 0);
    expect(tried.length).toBeLessThanOrEqual(60);
    await none();
  });

  test("whatever the server replies afterwards, even at the same moment; after a resume the count restarts", async () => {
    let n = 0;
    let refused: [from: number, to: number] = [11, 40];
    await start({
      answer: ({ verb }) => (verb === "RCPT" && ++n >= refused[0] && n <= refused[1] ? "550 No" : undefined),
    });
    const id = await campaign(45);
    sending.engine();
    const stopped = await sending.finished(id);
    expect(stopped.error).toContain('"550 No"');
    expect(stopped.sent_count).toBeGreaterThanOrEqual(10);
    n = 0;
    refused = [1, 15];
    await resume({ meta: { companyId }, emit: async () => {} } as unknown as Ctx, id);
    expect(await sending.finished(id)).toMatchObject({ status: "partial", sent_count: 30, error: null });
  });

  test.each([
    ["another text", (n: number) => (n % 2 ? "550 No" : "550 Never")],
    ["an accepted mail", (n: number) => (n % 15 ? "550 No" : undefined)],
  ])("counted from zero after %s", async (_what, said) => {
    let n = 0;
    await start({ answer: ({ verb }) => (verb === "RCPT" ? said(++n) : undefined) }, { maxConnections: 1 });
    const id = await campaign(60);
    sending.engine();
    expect(await sending.finished(id)).toMatchObject({ error: null });
    expect((await sending.recipients(id)).every(({ attempts }) => attempts === 1)).toBe(true);
  });

  test("does not include texts about the mailbox", async () => {
    await start({
      answer: ({ verb }) => (verb === "RCPT" ? "550 5.7.1 Recipient address rejected: user unknown" : undefined),
    });
    const id = await campaign(40);
    sending.engine();
    expect(await sending.finished(id)).toMatchObject({ error: null, failed_count: 40 });
  });
});

test("refusals that are not consecutive stop nothing", async () => {
  let n = 0;
  await start(
    { answer: ({ verb }) => (verb === "DOT" && ++n % 2 === 0 ? "554 5.7.1 spam" : undefined) },
    { maxConnections: 1 },
  );
  const id = await campaign(100);
  sending.engine();
  expect(await sending.finished(id)).toMatchObject({
    status: "partial",
    sent_count: 50,
    failed_count: 50,
    error: null,
  });
});

test("a wrong password stops the campaign at once with a readable error, and nobody is tried", async () => {
  await start({ auth: { user: "u", pass: "right" } }, { username: "u", password: "wrong" });
  const id = await campaign(500);
  sending.engine();
  const counts = await sending.finished(id);
  expect(counts).toMatchObject({ status: "failed", sent_count: 0, failed_count: 500 });
  expect(counts.error).toMatch(/refused the login: .*535/);
  expect((await sending.recipients(id)).every(({ attempts }) => attempts === 0)).toBe(true);
});

test.each([
  ["the only mechanism", ["PLAIN"]],
  ["a mechanism behind one that is offered and missing", ["LOGIN"]],
])("the right password sends, by %s", async (_what, has) => {
  const auth = { user: "u", pass: "right", has, offers: ["PLAIN", "LOGIN"] };
  await start({ auth }, { username: "u", password: "right" });
  const id = await campaign(5);
  sending.engine();
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 5 });
  expect(server.messages[0]!.user).toBe("u");
});

test("a login at a server that offers none stops the campaign at once, with the message of the validation", async () => {
  await start({}, { username: "u", password: "right" });
  const id = await campaign(5);
  sending.engine();
  const { status, error } = await sending.finished(id);
  expect([status, error]).toEqual(["failed", expect.stringContaining("offers no login (AUTH)")]);
});

test("a refused sender address stops the campaign at once", async () => {
  await start({ answer: ({ verb }) => (verb === "MAIL" ? "550 5.7.1 Not your domain" : undefined) });
  const id = await campaign(500);
  sending.engine();
  const counts = await sending.finished(id);
  expect(counts).toMatchObject({ status: "failed", sent_count: 0, failed_count: 500 });
  expect(counts.error).toBe("The SMTP server refused the sender address: 550 5.7.1 Not your domain");
  expect((await sending.recipients(id)).every(({ attempts }) => attempts === 0)).toBe(true);
});

test("a campaign stops if TLS is required and not offered, and nothing is sent in plain text", async () => {
  await start({}, { useTls: true });
  const id = await campaign(5);
  sending.engine();
  const counts = await sending.finished(id);
  expect(counts).toMatchObject({ status: "failed" });
  expect(counts.error).toMatch(/offers no STARTTLS/);
  expect(server.accepted).toBe(0);
});

test("a deleted configuration fails the remaining recipients", async () => {
  await start();
  const id = await campaign(10);
  await query("delete from smtp_configs where id = $1", [smtpConfigId]);
  sending.engine();
  expect(await sending.finished(id)).toMatchObject({
    status: "failed",
    failed_count: 10,
    error: "The SMTP configuration was deleted.",
  });
});

test.each([true, false])(
  "cc and bcc get their copy after the primary, and a refused copy changes nothing (pipelining %s)",
  async (pipelining) => {
    await start({
      pipelining,
      answer: ({ verb, to }) => (verb === "RCPT" && to === "no@to.example" ? "550 5.1.1 no" : undefined),
    });
    await query("insert into suppressions (company_id, email) values ($1, 'blocked@to.example')", [companyId]);
    const id = await campaign([
      { email: "a@to.example", cc: ["no@to.example", "cc@to.example", "blocked@to.example"], bcc: ["bcc@to.example"] },
      { email: "b@to.example", cc: ["no@to.example"] },
      { email: "c@to.example" },
    ]);
    sending.engine();
    expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 3, failed_count: 0 });
    await server.received(4);
    const envelopes = server.messages.map(({ to }) => to.join(" ")).sort();
    expect(envelopes).toEqual(["a@to.example", "b@to.example", "c@to.example", "cc@to.example bcc@to.example"]);
    expect(server.doubled).toEqual([]);
    expect(await query("select * from suppressions where company_id = $1 and kind <> 'manual'", [companyId])).toEqual(
      [],
    );
  },
);

test("people who are suppressed, unsubscribed or deleted before their mail leaves get nothing; transactional mail ignores an unsubscription", async () => {
  await start();
  await query(
    "insert into suppressions (company_id, email, kind) values ($1, 'r1@to.example', 'unsubscribed'), ($1, 'r2@to.example', 'complained')",
    [companyId],
  );
  await query("insert into suppressions (company_id, domain) values ($1, 'blocked.example')", [companyId]);
  const people = ["r1@to.example", "r2@to.example", "r3@sub.blocked.example", "r4@to.example", "r5@to.example"];
  const news = await campaign(people.map((email) => ({ email })));
  const receipt = await campaign(
    people.map((email) => ({ email })),
    true,
  );
  for (const id of [news, receipt]) {
    await query(
      "update sent_emails set subscriber_id = uuid_v7() where campaign_no = (select no from campaigns where id = $1) and seq = 4",
      [id],
    );
  }
  sending.engine();
  expect(await sending.finished(news)).toMatchObject({ status: "partial", sent_count: 1, failed_count: 4 });
  expect(await sending.finished(receipt)).toMatchObject({ status: "partial", sent_count: 2, failed_count: 3 });
  expect((await sending.recipients(news)).map(({ error }) => error)).toEqual([
    "The recipient has unsubscribed.",
    "The recipient has complained about mail.",
    "The address or its domain is suppressed.",
    "The subscriber was deleted.",
    null,
  ]);
  expect(server.messages.map(({ to }) => to[0]).sort()).toEqual(["r1@to.example", "r5@to.example", "r5@to.example"]);
});

test.each([
  ["at once", true],
  ["when a connection asks for it", false],
])("a mail that cannot be rendered fails its recipient only, also %s", async (_when, atOnce) => {
  await start();
  const id = await campaign(10);
  const make = ({ email }: RecipientRow): Rendered =>
    email.startsWith("r3@")
      ? { ok: false, error: "no template" }
      : { ok: true, raw: `Message-ID: <${email}>\r\n\r\n.dots\r\n..\r\n`, smtputf8: false, eightBit: false };
  sending.engine({ render: async (_campaign, rows) => rows.map((row) => (atOnce ? make(row) : () => make(row))) });
  expect(await sending.finished(id)).toMatchObject({ status: "partial", sent_count: 9, failed_count: 1 });
  expect((await sending.recipients(id))[2]!.error).toBe("The mail could not be rendered: no template");
  // A line that begins with a dot does not end the message.
  expect(server.messages[0]!.raw).toMatch(/\r\n\.dots\r\n\.\.\r\n$/);
});

test("an address that needs SMTPUTF8 fails at a server without it, and is sent at a server with it", async () => {
  await start({ extensions: ["8BITMIME"] });
  const people = [{ email: "jörg@bücher.example" }, { email: "plain@bücher.example" }];
  const id = await campaign(people);
  sending.engine();
  expect(await sending.finished(id)).toMatchObject({ status: "partial", sent_count: 1, failed_count: 1 });
  expect((await sending.recipients(id))[0]!.error).toMatch(/SMTPUTF8/);
  expect(server.messages[0]!.to).toEqual(["plain@xn--bcher-kva.example"]);
});
