/** Test sends, drafts, duplicates, and resends to non-openers. */
import { generateKeyPairSync } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { simpleParser } from "mailparser";
import { query, queryOne } from "../../../models/database/db.ts";
import { type App, startApp } from "../../support/app.ts";
import { type Client, client, fileForm, newCompany, type TestCompany } from "../../support/client.ts";
import { type Answer, type Command, type SmtpServer, startSmtpServer } from "../../support/smtp-server.ts";

const API = "/api/emails";
const BODY =
  '<p>Hi [[first_name]], <a href="https://example.com/">look</a></p><p><a href="[[unsubscribe_url]]">Off</a></p>';

let app: App;
let server: SmtpServer;
let answer: (command: Command) => Answer;
let company: TestCompany;
let api: Client;
let template: string;
let smtp: string;
let list: string;

beforeAll(async () => {
  server = await startSmtpServer({ answer: (command) => answer(command) });
  app = await startApp();
});
afterAll(async () => {
  await app?.stop();
  await server.stop();
});
beforeEach(async () => {
  answer = () => undefined;
  server.messages.length = 0;
  company = await newCompany(app);
  api = company.api;
  const config = { name: "S", host: "127.0.0.1", port: server.port, username: "", password: "", use_tls: false };
  smtp = (await api.post(`${API}/smtp-configs/`, { ...config, sender_email: "news@acme.example" })).body.id;
  template = (await api.post(`${API}/templates/`, { name: "T", subject: "For [[first_name]]", body: BODY })).body.id;
  list = (await api.post(`${API}/lists/`, { name: "Readers" })).body.id;
});

/** Waits until the campaign has ended. */
async function ended(id: string) {
  for (const deadline = Date.now() + 50_000; ; await sleep(30)) {
    const { body } = await api.get(`${API}/campaigns/${id}/`);
    if (!["pending", "sending", "scheduled"].includes(body.status)) return body;
    if (Date.now() > deadline) throw new Error(`Not over: ${JSON.stringify(body)}`);
  }
}

const arrived = () => Promise.all(server.messages.map(({ raw }) => simpleParser(raw)));
const used = async () => {
  const row = await queryOne<{ emails: number }>("select emails from usage_months where company_id = $1", [company.id]);
  return row?.emails ?? 0;
};

describe("a test send", () => {
  const request = (extra: object = {}) => ({
    smtp_config_id: smtp,
    to: ["ann@example.com"],
    template_id: template,
    ...extra,
  });
  const sendTest = (extra: object = {}) => api.post(`${API}/send/test/`, request(extra));

  test("sends each address its own message at once: untracked, subject marked, with values, attachment and reply-to", async () => {
    const media = (await api.post(`${API}/media/`, fileForm("a file", "a.txt"))).body.id;
    await api.post(`${API}/subscribers/`, { email: "zoe@example.com", first_name: "Zoë", lists: [list] });
    const to = ["ann@example.com", "zoe@example.com", "ANN@example.com"];
    const sent = await sendTest({ to, attachment_ids: [media] });
    expect(sent).toMatchObject({ status: 200, body: { warnings: [] } });
    expect(sent.body.results).toEqual(
      ["ann@example.com", "zoe@example.com"].map((email) => ({
        email,
        status: "sent",
        smtp_response: expect.stringMatching(/^250 /),
        error: null,
      })),
    );
    const mails = await arrived();
    expect(mails.map(({ subject }) => subject)).toEqual(["[Test] For", "[Test] For Zoë"]);
    expect(mails.map(({ attachments }) => attachments.length)).toEqual([1, 1]);
    expect(mails[0]!.html).toContain('href="https://example.com/"');
    expect(mails[0]!.html).not.toMatch(/public\/(click|open)/);
    expect(server.messages.map((mail) => mail.to)).toEqual([["ann@example.com"], ["zoe@example.com"]]);
    // A test send creates no campaign and no messages, but counts in the month and the hour.
    const nothing = await Promise.all(["campaigns", "sent-emails", "events"].map((path) => api.get(`${API}/${path}/`)));
    expect(nothing.map(({ body }) => body.count)).toEqual([0, 0, 0]);
    expect(await used()).toBe(2);
    const plan = await client(app, { token: company.token }).get(`/api/companies/${company.id}/plan/`);
    expect(plan.body.usage).toMatchObject({ emails_per_month: 2, smtp_per_hour: 2 });
    const log = await client(app, { token: company.token }).get(`/api/companies/${company.id}/audit-log/`);
    expect(log.body.results[0]).toMatchObject({ action: "campaign.tested", target: smtp, detail: { emails: 2 } });
    // Fetching the link must not unsubscribe anybody.
    const link = /href="([^"]*public\/unsubscribe[^"]*)"/.exec(mails[1]!.html as string)![1]!;
    expect(
      (await client(app).post(new URL(link).pathname, new URLSearchParams({ "List-Unsubscribe": "One-Click" }))).status,
    ).toBeLessThan(500);
    expect((await api.get(`${API}/subscribers/`, { query: { search: "zoe@" } })).body.results[0].status).toBe("active");
  });

  test("a test with its own text is signed like real mail, and its problems are warnings", async () => {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 1024 });
    const dkim = {
      domain: "acme.example",
      selector: "s1",
      private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
    };
    expect((await api.patch(`${API}/smtp-configs/${smtp}/`, { dkim })).status).toBe(200);
    const text = { template_id: undefined, subject: "S [[fist_name]]", body: "<p>[[fist_name]]</p>" };
    const sent = await sendTest({ ...text, variables: { first_name: "Ann" } });
    expect(sent.body.warnings).toEqual([
      "No subscriber has the variable [[fist_name]]. Did you mean [[first_name]]?",
      expect.stringMatching(/^No visible unsubscribe link/),
    ]);
    expect(server.messages[0]!.raw).toMatch(/^DKIM-Signature: .*d=acme\.example/ims);
    expect((await sendTest({ ...text, variables: { fist_name: "Ann" } })).body.warnings).toHaveLength(1);
    expect((await arrived())[1]!.subject).toBe("[Test] S Ann");
  });

  test("shows the server's answer for each address, and a refusal suppresses nobody", async () => {
    answer = ({ verb, to }) => {
      if (verb !== "RCPT") return undefined;
      return to.startsWith("no") ? "550 5.1.1 no such user" : to.startsWith("later") ? "450 4.2.1 later" : undefined;
    };
    const sent = await sendTest({ to: ["no@example.com", "later@example.com", "yes@example.com"] });
    expect(sent.body.results).toMatchObject([
      { status: "bounced", smtp_response: "550 5.1.1 no such user", error: "Refused: 550 5.1.1 no such user" },
      { status: "failed", smtp_response: "450 4.2.1 later" },
      { status: "sent", error: null },
    ]);
    expect((await api.get(`${API}/suppressions/`)).body.count).toBe(0);
    // Server that closes each session after one message.
    server.options.maxMessagesPerConnection = 1;
    const three = await sendTest({ to: ["a@example.com", "b@example.com", "c@example.com"] });
    delete server.options.maxMessagesPerConnection;
    expect(three.body.results.map(({ status }: { status: string }) => status)).toEqual(["sent", "sent", "sent"]);
    expect(server.messages.map(({ to }) => to[0])).toEqual(["yes", "a", "b", "c"].map((name) => `${name}@example.com`));
    answer = ({ verb }) => (verb === "MAIL" ? "550 5.7.1 not from you" : undefined);
    expect((await sendTest()).body.results).toMatchObject([
      {
        status: "failed",
        smtp_response: "550 5.7.1 not from you",
        error: "The SMTP server refused the sender address: 550 5.7.1 not from you",
      },
    ]);
  });

  test("skips suppressed, unsubscribed and erased addresses with the reason, without counting them", async () => {
    await api.post(`${API}/suppressions/`, { domain: "blocked.example" });
    await api.post(`${API}/suppressions/`, { email: "left@example.com", kind: "unsubscribed" });
    await api.post(`${API}/subscribers/erase/`, { email: "gone@example.com" });
    const sent = await sendTest({
      to: ["a@blocked.example", "left@example.com", "ok@example.com", "gone@example.com"],
    });
    expect(sent.body.results).toMatchObject([
      { status: "suppressed", error: "The address or its domain is suppressed.", smtp_response: null },
      { status: "suppressed", error: "The recipient has unsubscribed." },
      { status: "sent" },
      { status: "suppressed", error: "The recipient was erased." },
    ]);
    expect(server.messages).toHaveLength(1);
    expect(await used()).toBe(1);
  });

  test("reports a server that does not answer in time: not sent before the message, unknown after it", async () => {
    const within = (ms: number) =>
      app.broker.call(
        "smtp-sender.sendTests",
        { smtp_config_id: smtp, to: ["ann@example.com", "bob@example.com"], template_id: template, within_ms: ms },
        { meta: { companyId: company.id }, timeout: 50_000 },
      ) as Promise<{ results: { status: string; error: string }[] }>;
    answer = ({ verb }) => (verb === "DOT" ? { hang: true } : undefined);
    expect((await within(6_000)).results).toMatchObject([{ status: "unknown" }, { status: "failed" }]);
    answer = ({ verb }) => (verb === "CONNECT" ? { hang: true } : undefined);
    const late = { status: "failed", error: expect.stringMatching(/^The SMTP server took longer than/) };
    expect((await within(400)).results).toMatchObject([late, late]);
  });

  test("has the preheader, text part and inlined CSS of written content", async () => {
    const html = "<style>p { color: red }</style><p>One</p>";
    const content = { subject: "S", body: html, preheader: "Peek", text_body: "As text", inline_css: true };
    const sent = await sendTest({ template_id: undefined, ...content });
    expect(sent.body.results).toMatchObject([{ status: "sent" }]);
    const [mail] = await arrived();
    expect(mail!.html).toMatch(/Peek[\s\S]*<p style="color: ?red;?">One<\/p>/);
    expect(mail!.text).toContain("As text");
    const blocks = [{ type: "heading", text: "Hi [[first_name]]" }];
    const design = { version: 1, blocks: [{ type: "section", columns: [{ blocks }] }] };
    const variables = { first_name: "Ann" };
    await sendTest({ template_id: undefined, subject: "S", design, variables });
    const designed = (await api.post(`${API}/templates/`, { name: "T", subject: "T", design })).body.id;
    await sendTest({ template_id: designed, variables });
    for (const made of (await arrived()).slice(1)) {
      expect(made.html).toMatch(/<h1[^>]*>Hi Ann<\/h1>/);
      expect(made.text).toMatch(/^Hi Ann\n/);
    }
    expect((await sendTest({ template_id: undefined, subject: "S", design: { version: 9, blocks } })).body).toEqual({
      design: ["version: This version is not known."],
    });
    expect((await sendTest({ preheader: "Peek" })).body).toEqual({
      preheader: ["Give either template_id, or subject with body or design."],
    });
    const empty = { version: 1, blocks: [{ type: "section", columns: [{ blocks: [] }] }] };
    for (const nothing of [empty, { version: 1, blocks: [] }]) {
      expect((await sendTest({ template_id: undefined, subject: "S", design: nothing })).body).toEqual({
        design: ["blocks: Add at least one block with content."],
      });
    }
  });

  test("reports all errors in one 400; hour, month and warm-up limits apply, and more than 20 per minute get 429", async () => {
    const wrong = await api.post(`${API}/send/test/`, {
      smtp_config_id: template,
      to: [],
      subject: "S",
      variabels: {},
    });
    expect(wrong).toMatchObject({
      status: 400,
      body: { to: expect.any(Array), variabels: ['Unknown field. Did you mean "variables"?'] },
    });
    const none = await api.post(`${API}/send/test/`, {
      smtp_config_id: template,
      to: ["a@b.example", "nobody"],
      subject: "S",
    });
    expect(none.body).toMatchObject({
      smtp_config_id: expect.any(Array),
      to: expect.any(Array),
      body: ["Give body or design."],
    });
    expect((await sendTest({ subject: "S" })).body).toEqual({
      subject: ["Give either template_id, or subject with body or design."],
    });
    expect((await sendTest({ template_id: undefined })).body).toEqual({
      template_id: ["Give template_id, or subject with body or design."],
    });
    expect((await sendTest({ markdown: "# M" })).body).toEqual({ markdown: ['Unknown field. Did you mean "body"?'] });
    const six = Array.from({ length: 6 }, (_, n) => `a${n}@example.com`);
    expect((await sendTest({ to: six })).status).toBe(400);

    const warmup = { start_per_day: 1, factor: 2, until_per_day: 10 };
    await api.patch(`${API}/smtp-configs/${smtp}/`, { warmup });
    const before = await used();
    expect(await sendTest({ to: six.slice(0, 2) })).toMatchObject({ status: 429 });
    await api.patch(`${API}/smtp-configs/${smtp}/`, { warmup: null });
    expect([await used(), server.messages.length]).toEqual([before, 0]);
    await query(
      `insert into plans (name, emails_per_month, smtp_per_hour) values ('month', 3, null), ('hour', null, 2)`,
    );
    await query("update companies set plan = 'month' where id = $1", [company.id]);
    expect((await sendTest({ to: six.slice(0, 4) })).status).toBe(403);
    await query("update companies set plan = 'hour' where id = $1", [company.id]);
    expect((await sendTest({ to: six.slice(0, 3) })).status).toBe(429);
    expect((await sendTest({ to: six.slice(0, 2) })).status).toBe(200);
    expect([await used(), server.messages.length]).toEqual([2, 2]);
    const many = await Promise.all(Array.from({ length: 20 }, () => sendTest({ to: six.slice(0, 2) })));
    expect(many.filter(({ text }) => text.includes("throttled")).length).toBeGreaterThan(0);
    expect(server.messages).toHaveLength(2);
  });
});

describe("a draft", () => {
  const receivers = [
    { email: "ann@example.com", first_name: "Ann", cc: ["copy@example.com"], order: { no: 7 } },
    { email: "bob@example.com" },
  ];
  const make = async (kind: string, body: object, name = "Later") => {
    const made = await api.post(`${API}/drafts/`, { name, kind, body });
    expect([made.status, made.text]).toEqual([201, made.text]);
    return made.body as { id: string; name: string; body: object; updated_at: string };
  };
  const send = (id: string, headers = {}) => api.post(`${API}/drafts/${id}/send/`, {}, { headers });
  const toReceivers = () => ({ name: "Orders", template_id: template, smtp_config_id: smtp, receivers });
  const campaigns = async () => (await api.get(`${API}/campaigns/`)).body.count;

  test("is stored as given, replaced as a whole, listed and deleted", async () => {
    const body = { receivers: [{ nobody: 1 }], whatever: { deep: [null, "ü"] }, name: "" };
    const { id } = await make("custom", body);
    const path = `${API}/drafts/${id}/`;
    expect((await api.get(path)).body).toMatchObject({ id, name: "Later", kind: "custom", body });
    expect((await api.patch(path, { body: { subject: "S" } })).body).toMatchObject({
      kind: "custom",
      body: { subject: "S" },
    });
    expect((await api.patch(path, { name: "Now", kind: "to-list" })).body).toMatchObject({
      name: "Now",
      kind: "to-list",
    });
    expect((await api.get(path)).body.body).toEqual({ subject: "S" });
    const large = await make("custom", { body: "x".repeat(150_000) }, "Large");
    const listed = await api.get(`${API}/drafts/`, { query: { search: "a" } });
    expect(listed.body.results).toMatchObject([{ id: large.id, name: "Large", body: null }]);
    expect((await api.get(`${API}/drafts/${large.id}/`)).body.body).toEqual(large.body);
    expect((await api.get(`${API}/drafts/`, { query: { ordering: "name" } })).body).toMatchObject({
      count: 2,
      results: [{ name: "Large" }, { name: "Now", body: { subject: "S" } }],
    });
    const wrong = await api.post(`${API}/drafts/`, { kind: "weekly", body: [] });
    expect(wrong).toMatchObject({ status: 400, body: { kind: expect.any(Array), body: expect.any(Array) } });
    expect((await api.post(`${API}/drafts/`, {})).body).toEqual({ kind: ["This field is required."] });
    expect((await api.post(`${API}/drafts/`, { kind: "custom" })).body).toMatchObject({ name: "Draft", body: {} });
    const bearer = client(app, { token: company.token, query: { company: company.id } });
    expect((await bearer.delete(path)).status).toBe(204);
    expect((await api.get(path)).status).toBe(404);
    expect((await (await newCompany(app)).api.get(`${API}/drafts/${large.id}/`)).status).toBe(404);
  });

  test("is refused with all errors of the send and stays; once valid it is sent and deleted", async () => {
    const { id } = await make("to-receivers", {
      template_id: smtp,
      receivers: [{}],
      scheduled_for: "2000-01-01T00:00:00Z",
      schedule_for: null,
    });
    expect(await send(id)).toMatchObject({
      status: 400,
      body: {
        smtp_config_id: ["This field is required."],
        template_id: [expect.stringMatching(/^Invalid pk/)],
        receivers: ["Receiver at index 0 is missing 'email'."],
        scheduled_for: ["The time must be in the future."],
        schedule_for: ['Unknown field. Did you mean "scheduled_for"?'],
      },
    });
    const { name: _, ...body } = toReceivers();
    expect((await api.patch(`${API}/drafts/${id}/`, { body })).status).toBe(200);
    await query("insert into plans (name, emails_per_month) values ('one', 1) on conflict do nothing");
    await query("update companies set plan = 'one' where id = $1", [company.id]);
    expect((await send(id)).status).toBe(403);
    expect([(await api.get(`${API}/drafts/${id}/`)).body.body, await campaigns()]).toEqual([body, 0]);
    await query("update companies set plan = 'unlimited' where id = $1", [company.id]);
    // Nodes cache a company's plan for some seconds.
    const sendDirectly = () => api.post(`${API}/send/to-receivers/`, toReceivers());
    let direct = await sendDirectly();
    for (const deadline = Date.now() + 50_000; direct.status === 403 && Date.now() < deadline; await sleep(200)) {
      direct = await sendDirectly();
    }
    const sent = await send(id);
    expect([sent.status, Object.keys(sent.body)]).toEqual([201, Object.keys(direct.body)]);
    expect(sent.body).toMatchObject({ name: "Later", campaign_type: "to_receivers", total_emails: 2, template });
    expect([(await api.get(`${API}/drafts/${id}/`)).status, (await send(id)).status]).toEqual([404, 404]);
    expect(await ended(sent.body.id)).toMatchObject({ status: "completed", sent_count: 2 });
  });

  test("becomes one campaign in concurrent sends, and the key returns the first answer afterwards", async () => {
    const { id } = await make("to-receivers", toReceivers());
    const all = await Promise.all(Array.from({ length: 8 }, () => send(id)));
    const statuses = all.map(({ status }) => status).toSorted();
    expect([statuses[0], await campaigns()]).toEqual([201, 1]);
    expect(statuses.slice(1).filter((status) => status !== 404 && status !== 409)).toEqual([]);

    const second = await make("to-receivers", toReceivers());
    const key = { "Idempotency-Key": "draft-1" };
    const same = await Promise.all(Array.from({ length: 4 }, () => send(second.id, key)));
    expect(new Set(same.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(await send(second.id, key)).toMatchObject({ status: 201, text: same[0]!.text });
    expect(await campaigns()).toBe(2);
    const third = await make("to-receivers", toReceivers());
    expect((await send(third.id, key)).status).toBe(409);
    expect((await api.get(`${API}/drafts/${third.id}/`)).status).toBe(200);
  });

  test("a concurrent change is not lost: either the send or the change is refused", async () => {
    for (let round = 0; round < 5; round++) {
      const { id } = await make("to-receivers", toReceivers());
      const path = `${API}/drafts/${id}/`;
      const [sent, changed] = await Promise.all([send(id), api.patch(path, { body: { subject: "Other" } })]);
      const left = await api.get(path);
      if (sent.status === 201) expect([changed.status === 200, left.status]).toEqual([false, 404]);
      else expect([changed.status, left.body.body]).toEqual([200, { subject: "Other" }]);
    }
  });

  test("is changed and sent only as it was read, if asked so: of concurrent changes one is made, and an unread one is not sent", async () => {
    const { id, updated_at } = await make("to-receivers", toReceivers());
    const path = `${API}/drafts/${id}/`;
    const change = (name: string, unchanged_since = updated_at) => api.patch(path, { name, unchanged_since });
    const changes = await Promise.all([change("one"), change("two"), change("three")]);
    expect(changes.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
    const made = changes.find(({ status }) => status === 200)!.body;
    expect((await api.get(path)).body.name).toBe(made.name);
    const before = await campaigns();
    const sendRead = (unchanged_since: string) =>
      api.post(`${path}send/`, { unchanged_since }, { headers: { "Idempotency-Key": id } });
    expect([(await sendRead(updated_at)).status, await campaigns()]).toEqual([409, before]);
    expect((await sendRead("yesterday")).status).toBe(400);
    const sent = await sendRead(made.updated_at);
    expect(sent).toMatchObject({ status: 201, body: { name: "Orders" } });
    expect(await sendRead(made.updated_at)).toMatchObject({ status: 201, body: { id: sent.body.id } });
    await ended(sent.body.id);
  });

  test("duplicated from a campaign has everything that the campaign's request had, before and after expansion", async () => {
    const media = (await api.post(`${API}/media/`, fileForm("a file", "a.txt"))).body.id;
    await api.post(`${API}/suppressions/`, { email: "bob@example.com" });
    await api.post(`${API}/subscribers/`, { email: "ann@example.com", first_name: "Anna", lists: [list] });
    const request = { ...toReceivers(), attachment_ids: [media], is_transactional: true };
    const at = new Date(Date.now() + 3_600_000).toISOString();
    const { id: later } = (await api.post(`${API}/send/to-receivers/`, { ...request, scheduled_for: at })).body;
    const { id: over } = (await api.post(`${API}/send/to-receivers/`, request)).body;
    await ended(over);
    for (const id of [later, over]) {
      const copy = await api.post(`${API}/campaigns/${id}/duplicate/`, {});
      const name = "Copy of Orders";
      expect(copy).toMatchObject({ status: 201, body: { name, kind: "to-receivers", body: { ...request, name } } });
      expect(Object.keys(copy.body.body).toSorted()).toEqual(Object.keys(request).toSorted());
    }
    const custom = { name: "Ü".repeat(255), smtp_config_id: smtp, subject: "S [[email]]", body: "<p>B</p>", receivers };
    const { id: own } = (await api.post(`${API}/send/custom/`, custom)).body;
    const copied = (await api.post(`${API}/campaigns/${own}/duplicate/`, {})).body;
    expect(copied.body).toMatchObject({ subject: "S [[email]]", body: "<p>B</p>", receivers });
    expect((await send(copied.id)).status).toBe(201);

    const toList = { name: "News", template_id: template, smtp_config_id: smtp, list_id: list };
    const { id } = (await api.post(`${API}/send/to-list/`, { ...toList, scheduled_for: at })).body;
    // Simulates a field of a later release.
    await query(`update campaign_contents set further = '{"utm": {"source": "x"}}' where campaign_id = $1`, [id]);
    const { body } = await api.post(`${API}/campaigns/${id}/duplicate/`, {});
    expect(body).toMatchObject({ kind: "to-list" });
    expect(body.body).toEqual({ ...toList, name: "Copy of News", utm: { source: "x" } });
    const other = await newCompany(app);
    expect((await other.api.post(`${API}/campaigns/${id}/duplicate/`, {})).status).toBe(404);
  });

  test("duplicated from a campaign whose text was edited, or whose template was deleted, sends that campaign's mail", async () => {
    const scheduled_for = new Date(Date.now() + 3_600_000).toISOString();
    const receivers = [{ email: "eve@example.com", first_name: "Eve" }];
    const edit = (id: string, changes: object) => api.patch(`${API}/campaigns/${id}/`, changes);
    const copy = async (id: string) => (await api.post(`${API}/campaigns/${id}/duplicate/`, {})).body;
    const parts = async () => {
      const mail = server.messages.findLast(({ to }) => to[0] === receivers[0]!.email)!;
      const { subject, html, text } = await simpleParser(mail.raw);
      server.messages.length = 0;
      const withoutTokens = (page: unknown) => String(page).replaceAll(/public\/[^\s"]+/g, "");
      return { subject, html: withoutTokens(html), text: withoutTokens(text) };
    };
    const { id } = (await api.post(`${API}/send/to-receivers/`, { ...toReceivers(), receivers, scheduled_for })).body;
    const own = { subject: "Own [[first_name]]", preheader: "Peek", body: "<p>Own</p>", text_body: "Own text" };
    expect((await edit(id, own)).status).toBe(200);
    await query("update campaigns set scheduled_for = now() where id = $1", [id]);
    await ended(id);
    const first = await parts();
    expect(first).toMatchObject({ subject: "Own Eve", text: expect.stringMatching(/^Own text/) });
    const copied = await copy(id);
    expect(copied).toMatchObject({ kind: "custom", body: { ...own, receivers } });
    await ended((await send(copied.id)).body.id);
    expect(await parts()).toEqual(first);

    const toList = { name: "News", template_id: template, smtp_config_id: smtp, list_id: list, scheduled_for };
    const { id: news } = (await api.post(`${API}/send/to-list/`, toList)).body;
    const bodyOf = async () => (await copy(news)).body as { content: object };
    await edit(news, { text_body: "Only the text" });
    expect((await bodyOf()).content).toEqual({ subject: "For [[first_name]]", body: BODY, text_body: "Only the text" });
    await edit(news, { text_body: " " });
    expect((await bodyOf()).content).toEqual({ subject: "For [[first_name]]", body: BODY });
    await edit(news, { template_id: template });
    expect(await bodyOf()).toMatchObject({ template_id: template });
    await edit(news, { subject: "Other" });
    expect(await bodyOf()).toMatchObject({ content: { subject: "Other", body: BODY }, list_id: list });
    await edit(news, { template_id: template });
    expect((await api.delete(`${API}/templates/${template}/`)).status).toBe(204);
    const kept = await copy(news);
    expect(kept.body).toMatchObject({ content: { subject: "For [[first_name]]", body: BODY } });
    expect((await api.get(`${API}/drafts/${kept.id}/check/`)).body).toEqual({ errors: {} });
  });
});

describe("resending to non-openers", () => {
  const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:131.0) Gecko/20100101 Firefox/131.0";
  const resend = (id: string, extra: object = {}, headers = {}) =>
    api.post(`${API}/campaigns/${id}/resend/`, { to: "non_openers", ...extra }, { headers });
  const letters = ["opener", "clicker", "silent", "left", "unsubscriber", "bouncer", "gone", "machine"];
  const address = (name: string) => `${name}@example.com`;

  const mailTo = async (campaign: string, name: string) =>
    (await api.get(`${API}/sent-emails/`, { query: { campaign, recipient: address(name) } })).body.results[0].id;
  const linkTo = (name: string, page: string) => {
    const raw = server.messages
      .find(({ to }) => to[0] === address(name))!
      .raw.replace(/=\r\n/g, "")
      .replaceAll("=3D", "=");
    return new URL(new RegExp(`http[^"\\s]+/public/${page}/[^"\\s]+(?=")`).exec(raw)![0]).pathname;
  };
  const reader = (ip: string) => client(app, { ip, headers: { "user-agent": FIREFOX, accept: "text/html" } });
  const arrivedAt = () => server.messages.map(({ to }) => to[0]!.split("@")[0]).toSorted();

  const longAgo = (campaign: string) =>
    query(
      `update sent_emails set sent_at = sent_at - interval '1 hour'
       where campaign_no = (select no from campaigns where id = $1)`,
      [campaign],
    );

  async function sentToList(): Promise<string> {
    for (const name of letters) {
      const made = { email: address(name), first_name: name.toUpperCase(), lists: [list] };
      expect((await api.post(`${API}/subscribers/`, made)).status).toBe(201);
    }
    const asked = { name: "News", template_id: template, smtp_config_id: smtp, list_id: list };
    const { id } = (await api.post(`${API}/send/to-list/`, asked)).body;
    expect(await ended(id)).toMatchObject({ status: "completed", sent_count: letters.length });
    return id;
  }

  test("reaches recipients who got the mail and neither opened nor clicked, with the original snapshot and their values", async () => {
    const id = await sentToList();
    // An open right after delivery is a machine's.
    await reader("203.0.113.9").get(linkTo("machine", "open"));
    await longAgo(id);
    await reader("203.0.113.7").get(linkTo("opener", "open"));
    await reader("203.0.113.8").get(linkTo("clicker", "click"));
    for (
      const deadline = Date.now() + 50_000;
      (await api.get(`${API}/campaigns/${id}/`)).body.clicks !== 1;
      await sleep(30)
    ) {
      if (Date.now() > deadline) throw new Error("The click was not counted");
    }
    const subscriber = async (name: string) =>
      (await api.get(`${API}/subscribers/`, { query: { search: address(name) } })).body.results[0].id;
    const left = { subscriber_ids: [await subscriber("left")], remove_from_lists: [list] };
    expect((await api.post(`${API}/subscribers/bulk-update-lists/`, left)).status).toBe(200);
    await api.post(`${API}/public/unsubscribe/${await mailTo(id, "unsubscriber")}/`);
    await api.post(`${API}/bounces/`, { sent_email_id: await mailTo(id, "bouncer"), type: "hard" });
    await api.delete(`${API}/subscribers/${await subscriber("gone")}/`);
    await api.patch(`${API}/templates/${template}/`, { subject: "Another", body: "<p>Another</p>" });

    server.messages.length = 0;
    const again = await resend(id);
    expect(again).toMatchObject({
      status: 201,
      body: { name: "Again: News", status: "pending", campaign_type: "to_list" },
    });
    expect(await ended(again.body.id)).toMatchObject({
      status: "completed",
      subject: "For [[first_name]]",
      failed_count: 0,
    });
    expect(arrivedAt()).toEqual(["machine", "silent"]);
    expect((await arrived()).map(({ subject }) => subject).toSorted()).toEqual(["For MACHINE", "For SILENT"]);
    expect(server.messages[0]!.raw).toMatch(/public\/click/);
    await longAgo(again.body.id);
    // A person who opens this one gets no third message; the Idempotency-Key prevents a second one.
    await reader("203.0.113.8").get(linkTo("silent", "open"));
    for (
      const deadline = Date.now() + 50_000;
      (await api.get(`${API}/campaigns/${again.body.id}/`)).body.opens !== 1;
      await sleep(30)
    ) {
      if (Date.now() > deadline) throw new Error("The open was not counted");
    }
    server.messages.length = 0;
    const key = { "Idempotency-Key": "third" };
    const own = { subject: "Last call, [[first_name]]", name: "Third" };
    const third = await Promise.all([1, 2, 3].map(() => resend(again.body.id, own, key)));
    expect(new Set(third.map(({ text }) => text)).size).toBe(1);
    expect(await ended(third[0]!.body.id)).toMatchObject({ name: "Third", total_emails: 1, sent_count: 1 });
    expect((await arrived()).map(({ subject }) => subject)).toEqual(["Last call, MACHINE"]);
    expect((await resend(again.body.id, {}, key)).status).toBe(409);
    // The duplicate copies no recipients, and a resend's own subject.
    const renamed = (await api.post(`${API}/campaigns/${third[0]!.body.id}/duplicate/`, {})).body;
    expect(renamed.body).toMatchObject({ content: { subject: "Last call, [[first_name]]", body: BODY } });
    const copy = (await api.post(`${API}/campaigns/${again.body.id}/duplicate/`, {})).body;
    expect(copy.body).toEqual({ name: "Copy of Again: News", smtp_config_id: smtp, template_id: template });
  });

  test("keeps variables of inline receivers; copies and recipients in doubt get nothing", async () => {
    const receivers = ["ann", "bob", "cy", "dan"].map((name) => ({
      email: address(name),
      first_name: name,
      cc: ["boss@example.com"],
    }));
    answer = ({ verb, to, messageId }) =>
      verb === "DOT" && to === address("dan") && messageId ? { drop: true } : undefined;
    const asked = { name: "Orders", template_id: template, smtp_config_id: smtp, receivers };
    const { id } = (await api.post(`${API}/send/to-receivers/`, asked)).body;
    const first = await ended(id);
    expect(first).toMatchObject({ status: "partial", sent_count: 3 });
    answer = () => undefined;
    await api.post(`${API}/suppressions/`, { email: address("cy") });
    server.messages.length = 0;
    const { body } = await resend(id);
    expect(await ended(body.id)).toMatchObject({ status: "completed", sent_count: 2, suppressed_count: 1 });
    expect(server.messages.map(({ to }) => to).toSorted()).toEqual([[address("ann")], [address("bob")]]);
    expect((await arrived()).map(({ subject, cc }) => [subject, cc]).toSorted()).toEqual([
      ["For ann", undefined],
      ["For bob", undefined],
    ]);
    const noted = await api.get(`${API}/sent-emails/`, { query: { campaign: body.id, status: "suppressed" } });
    expect(noted.body.results).toMatchObject([
      { recipient: address("cy"), error: "The address or its domain is suppressed." },
    ]);
  });

  test("is 400 if it is impossible, and has 0 recipients if nobody is left", async () => {
    const asked = { name: "News", template_id: template, smtp_config_id: smtp, list_id: list };
    const at = new Date(Date.now() + 3_600_000).toISOString();
    const later = (await api.post(`${API}/send/to-list/`, { ...asked, scheduled_for: at })).body.id;
    expect((await resend(later)).body.detail).toMatch(/This one is scheduled\.$/);
    expect((await api.post(`${API}/campaigns/${later}/resend/`, { to: "all" })).body).toHaveProperty("to");
    const empty = (await api.post(`${API}/send/to-list/`, asked)).body.id;
    await ended(empty);
    const none = await resend(empty);
    expect([none.status, await ended(none.body.id)]).toMatchObject([201, { status: "completed", total_emails: 0 }]);
    expect((await resend(empty, { subject: "[[#if x]]" })).body).toEqual({ subject: [expect.any(String)] });
    expect(
      (await (await newCompany(app)).api.post(`${API}/campaigns/${empty}/resend/`, { to: "non_openers" })).status,
    ).toBe(404);
    await query("update campaign_contents set tracking_enabled = false where campaign_id = $1", [empty]);
    expect((await resend(empty)).body.detail).toMatch(/was not tracked/);
    await query("update campaign_contents set tracking_enabled = true where campaign_id = $1", [empty]);
    await query("update campaigns set individual_tracking = false where id = $1", [empty]);
    expect(await resend(empty)).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining("openers are unknown") },
    });
    await query("update campaigns set individual_tracking = true where id = $1", [empty]);
    await api.delete(`${API}/smtp-configs/${smtp}/`);
    expect((await resend(empty)).body.detail).toBe("The SMTP configuration of this campaign was deleted.");
  });
});
