import { setTimeout as sleep } from "node:timers/promises";
import { query, queryOne, transaction } from "../../../models/database/db.ts";
import { ERASURE_TARGETS } from "../../../models/statements/erasure-targets.ts";
import { call } from "../../../services/call.ts";
import { newId } from "../../../services/lib/ids.ts";
import { personToken } from "../../../services/lib/tokens/person-token.ts";
import { rowsWith } from "../../support/address-scan.ts";
import { type App, startApp } from "../../support/app.ts";
import { client, fileForm, newCompany, someIp, type TestCompany } from "../../support/client.ts";
import { type SmtpServer, startSmtpServer } from "../../support/smtp-server.ts";

const ANN = "Ann.Marie+news@erase-me.example";
const BOB = "bob@stays.example";
const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:131.0) Gecko/20100101 Firefox/131.0";

let app: App;
let server: SmtpServer;
/** Server's response to RCPT for Ann. */
let refusal: string | undefined;

beforeAll(async () => {
  server = await startSmtpServer({
    answer: ({ verb, to }) => (verb === "RCPT" && to.toLowerCase() === ANN.toLowerCase() ? refusal : undefined),
  });
  const system = { SYSTEM_SMTP_URL: `smtp://127.0.0.1:${server.port}`, SYSTEM_FROM: "system@service.example" };
  app = await startApp({ env: system });
});
afterAll(async () => {
  await app.stop();
  await server.stop();
});

async function until<T>(what: string, ask: () => Promise<T>, isSo: (value: T) => boolean): Promise<T> {
  for (const end = Date.now() + 50_000; ; ) {
    const value = await ask();
    if (isSo(value)) return value;
    if (Date.now() > end) throw new Error(`Not ${what}: ${JSON.stringify(value)}`);
    await sleep(50);
  }
}

interface Furnished extends TestCompany {
  smtp: string;
  list: string;
  template: string;
  ann: string;
  send(kind: "to-list" | "to-receivers" | "custom", body: object, headers?: Record<string, string>): Promise<string>;
}

async function furnish(): Promise<Furnished> {
  refusal = undefined;
  const company = await newCompany(app);
  const { api } = company;
  const made = async (path: string, body: object) => (await api.post(`/api/emails/${path}/`, body)).body.id as string;
  const smtp = await made("smtp-configs", {
    name: "Relay",
    host: "127.0.0.1",
    port: server.port,
    username: "",
    password: "",
    use_tls: false,
    sender_email: "news@sender.example",
  });
  const list = await made("lists", { name: "Readers" });
  const template = await made("templates", {
    name: "News",
    subject: "Hello [[first_name]]",
    body: '<p>Hello [[email]] <a href="https://example.com/">look</a></p>',
  });
  const ann = await made("subscribers", { email: ANN, first_name: "Ann", attributes: { city: "Łódź" }, lists: [list] });
  await made("subscribers", { email: BOB, first_name: "Bob", attributes: { friend: ANN }, lists: [list] });
  const send: Furnished["send"] = async (kind, body, headers = {}) => {
    const sent = await api.post(`/api/emails/send/${kind}/`, { name: "N", smtp_config_id: smtp, ...body }, { headers });
    expect([sent.status, sent.text]).toEqual([201, expect.any(String)]);
    if (sent.body.status === "scheduled") return sent.body.id;
    const get = async () => (await api.get(`/api/emails/campaigns/${sent.body.id}/`)).body;
    await until("sent", get, ({ status }) => ["completed", "partial", "failed"].includes(status));
    return sent.body.id;
  };
  return { ...company, smtp, list, template, ann, send };
}

/** Decodes a message like a mail program. */
const asRead = (raw: string): string => raw.replace(/=\r\n/g, "").replaceAll("=3D", "=");

/** Last message to Ann. */
const lastToAnn = (): string => asRead(server.messages.findLast(({ to }) => to[0] === ANN)!.raw);

const linkIn = (mail: string, page: string) =>
  new RegExp(`https?:[^"\\s]+/public/${page}/[^"\\s]+(?:/|\\.gif)(?=")`).exec(mail)![0];

const mailOfAnn = async ({ api }: Furnished, campaign: string) =>
  (await api.get("/api/emails/sent-emails/", { query: { campaign, recipient: ANN } })).body.results[0];

/** Stores Ann everywhere in the database. */
async function fillWithAnn(company: Furnished): Promise<{ news: string; mail: string; raw: string }> {
  const { api, id, smtp, list, template, ann, send, token } = company;
  await api.post("/api/emails/webhook-endpoints/", {
    url: "http://127.0.0.1:9/",
    events: ["delivered", "opened", "clicked", "bounced", "unsubscribed"],
  });
  await api.post("/api/emails/segments/", {
    name: "Her",
    rules: { match: "all", conditions: [{ field: "email", operator: "equals", value: ANN }] },
  });
  const news = await send("to-list", { template_id: template, list_id: list });
  const raw = lastToAnn();
  const receipt = {
    subject: "For [[email]]",
    body: `<p>Dear ${ANN}, here is your receipt</p>`,
    preheader: `${ANN}'s receipt`,
    text_body: `Dear ${ANN}, here is your receipt`,
  };
  await send(
    "custom",
    { ...receipt, name: `Receipt for ${ANN}`, receivers: [{ email: ANN, order: "17" }] },
    { "Idempotency-Key": `receipt of ${ANN}` },
  );
  await send("to-receivers", {
    template_id: template,
    utm: { term: `for ${ANN}` },
    receivers: [
      { email: ANN, cc: [BOB], note: "hers" },
      { email: BOB, cc: [ANN, "carl@stays.example"], note: `a friend of ${ANN}` },
    ],
  });
  await send("to-receivers", {
    template_id: template,
    scheduled_for: "2099-01-01T00:00:00Z",
    receivers: [{ email: ANN }],
  });
  const people = [{ email: ` ${ANN}`, note: "hers alone" }, { email: BOB, note: `with ${ANN}` }, "nobody"];
  await api.post("/api/emails/drafts/", { kind: "custom", name: `For ${ANN}`, body: { receivers: people, note: ANN } });
  const mail = (await mailOfAnn(company, news)).id;
  const browser = client(app, { ip: "203.0.113.9", headers: { "user-agent": FIREFOX } });
  await browser.get(linkIn(raw, "open"));
  await browser.get(linkIn(raw, "click"));
  await browser.post(`/api/emails/public/unsubscribe/${mail}/`);

  // The server now refuses her address, quoting it.
  refusal = `550 5.7.1 <${ANN}>: not today`;
  const urgent = { is_transactional: true, ...receipt };
  const columns = [{ blocks: [{ type: "heading", text: `Dear ${ANN}` }] }];
  const design = { version: 1, blocks: [{ type: "section", columns }] };
  await send("custom", { ...urgent, body: undefined, design, receivers: [{ email: BOB, bcc: [ANN] }, { email: ANN }] });
  refusal = `550 5.1.1 <${ANN}>: no such user here`;
  await send("custom", { ...urgent, receivers: [{ email: ANN }] });
  await until(
    "refused as a copy",
    () => copiesOf(id),
    (copies) => copies.every(({ status }) => status > 1),
  );

  await api.post("/api/emails/bounces/", { email: ANN, type: "soft", diagnostic: `<${ANN}> is full` });
  await query(
    `with raw as (insert into inbound_raws values ($1, $2, convert_to($3, 'UTF8')) returning id)
     insert into inbound_messages (id, company_id, via, result, recipient, diagnostic, raw_id)
     select $1, $2, 'smtp', 'unmatched', $4, $5, id from raw`,
    [newId(), id, `To: ${ANN.toUpperCase()}\r\n\r\nNot here`, BOB, `<${ANN}> is no friend`],
  );

  const members = client(app, { token, ip: someIp() });
  const invited = await members.post(`/api/companies/${id}/members/`, { email: ANN, role: "viewer" });
  await until("invited", pendingNotices, (n) => n === 0);
  await members.delete(`/api/companies/${id}/members/${invited.body.id}/`);

  // Rows with their own address, and a server's last response.
  await query(
    `with campaign as (
       insert into campaigns (id, company_id, name, campaign_type, status, total_emails, sent_count, smtp_config_id,
         worker_task_id, next_seq, expanded_at, no) values ($1, $2, 'Old', 'custom', 'completed', 2, 2, $3, $1, 3, now(),
         next_campaign_no()) returning no)
     insert into sent_emails (campaign_no, seq, subscriber_id, email, cc, variables, status, sent_at)
     select no, 1, $4::uuid, $5, null::text[], '{"a": 1}'::jsonb, 2, now() from campaign
     union all select no, 2, null, $5, null, '{"a": 1}'::jsonb, 2, now() from campaign
     union all select no, 3, null, 'dan@stays.example', array[$5], null::jsonb, 3, null from campaign
     -- Skipped when the campaign began.
     union all select no, -4, null, 'eve@stays.example', array[$5], jsonb_build_object('friend', $5), 5, null from campaign`,
    [newId(), id, smtp, ann, ANN],
  );
  await query("update smtp_configs set last_error = $2 where id = $1", [smtp, `450 4.2.1 <${ANN}>: later`]);
  // Bob's campaign: the refusing server names Ann, to whom he forwards mail.
  await query(
    `update sent_emails e set error = $3, smtp_response = $3 from campaigns c, subscribers p
     where c.id = $1 and e.campaign_no = c.no and p.company_id = c.company_id and p.email = $2 and e.subscriber_id = p.id`,
    [news, BOB, `450 4.2.1 <${ANN}>: later`],
  );
  return { news, mail, raw };
}

const copiesOf = (companyId: string) =>
  query<{ status: number }>("select status from sent_email_copies where company_id = $1", [companyId]);
const pendingNotices = async () =>
  (await queryOne<{ n: number }>("select count(*)::int n from system_mails where next_attempt_at is not null"))!.n;

const erase = (company: TestCompany, email: string) => company.api.post("/api/emails/subscribers/erase/", { email });

describe("an erased person", () => {
  test("leaves no trace of the address in any column of any table, and the counters as they were", async () => {
    const company = await furnish();
    const { api, id } = company;
    const { news, mail, raw } = await fillWithAnn(company);
    const numbers = async () => ({
      analytics: (await api.get(`/api/emails/campaigns/${news}/analytics/`)).body,
      campaigns: (await api.get("/api/emails/campaigns/")).body.results.map((c: Record<string, unknown>) => [
        c.id,
        c.total_emails,
        c.sent_count,
        c.failed_count,
      ]),
      sent: (await api.get("/api/emails/sent-emails/")).body.count,
    });
    const before = await numbers();
    const traces = await rowsWith(ANN);
    expect(Object.keys(traces)).toEqual([
      "audit_log",
      "campaign_contents",
      "campaign_receivers",
      "campaigns",
      "drafts",
      "email_events",
      "idempotency_keys",
      "inbound_messages",
      "inbound_raws",
      "invitations",
      "segments",
      "sent_email_copies",
      "sent_emails",
      "smtp_configs",
      "subscribers",
      "suppressions",
      "system_mails",
      "webhook_deliveries",
    ]);

    const { status, body } = await erase(company, ` ${ANN.toUpperCase()} `);
    expect([status, body.complete]).toEqual([200, true]);
    for (const [kind, n] of Object.entries(body.erased)) expect([kind, n]).not.toEqual([kind, 0]);
    expect(await rowsWith(ANN)).toEqual({});

    // Later bounces about her are listed without her data.
    const late = { email: ANN, type: "hard", diagnostic: `550 5.1.1 <${ANN}> is gone` };
    expect((await api.post("/api/emails/bounces/", late)).status).toBe(202);
    expect((await api.get("/api/emails/inbound/")).body.results[0]).toMatchObject({
      result: "unmatched",
      recipient: null,
    });
    expect(await rowsWith(ANN)).toEqual({});
    expect(await rowsWith("erase-me.example")).toEqual({});
    expect(await rowsWith("203.0.113.9")).toEqual({});

    expect(await numbers()).toEqual(before);
    const events = (await api.get("/api/emails/events/")).body;
    expect([events.count, events.results]).toEqual([0, []]);
    const emptied = (await api.get("/api/emails/sent-emails/", { query: { campaign: news, page_size: 100 } })).body;
    expect(emptied.results.map((m: Record<string, unknown>) => m.recipient).toSorted()).toEqual(["", BOB]);
    expect((await api.get(`/api/emails/subscribers/${company.ann}/`)).status).toBe(404);
    // Bob's data is unchanged.
    const bob = (await api.get("/api/emails/subscribers/", { query: { search: "bob" } })).body.results[0];
    expect(bob).toMatchObject({ email: BOB, attributes: { friend: "[erased]" } });
    const others = [{ email: BOB, note: "with [erased]" }, "nobody"];
    expect((await api.get("/api/emails/drafts/")).body.results).toMatchObject([
      { name: "For [erased]", body: { receivers: others, note: "[erased]" } },
    ]);
    const again = { kind: "custom", body: { receivers: [{ email: ANN }, others[0]] } };
    expect((await api.post("/api/emails/drafts/", again)).body.body).toEqual({ receivers: [others[0]] });
    const log = (
      await client(app, { token: company.token }).get(`/api/companies/${id}/audit-log/`, {
        query: { action: "subscribers.erased" },
      })
    ).body.results;
    expect(log).toMatchObject([{ target: null, detail: {} }]);

    // Links in messages that she still has.
    const browser = client(app, { ip: someIp(), headers: { "user-agent": FIREFOX, accept: "text/html" } });
    expect((await browser.get(`/api/emails/public/view/${mail}/`)).status).toBe(404);
    expect((await browser.get(`/api/emails/public/unsubscribe/${mail}/`)).status).toBe(404);
    expect((await browser.post(`/api/emails/public/unsubscribe/${mail}/`)).status).toBe(200);
    const click = await browser.get(linkIn(raw, "click"));
    expect([click.status, click.headers.get("location")]).toEqual([302, "https://example.com/"]);
    expect((await browser.get(linkIn(raw, "open"))).status).toBe(200);
    expect((await api.get("/api/emails/events/")).body.count).toBe(0);
  });

  test("has concurrent data removed half an hour later, and then no trace of the work is left", async () => {
    const company = await furnish();
    expect((await erase(company, ANN)).body).toMatchObject({ complete: true });
    expect(await rowsWith(ANN)).toEqual({});
    await query(
      `insert into email_events (company_id, type, recipient, metadata) values ($1, 'bounced', $2, '{"text": "x"}')`,
      [company.id, ANN],
    );
    await query("insert into suppressions (company_id, email, kind) values ($1, $2, 'bounced')", [company.id, ANN]);
    await call(app.broker, "subscribers.finishErasures", {});
    expect(await rowsWith(ANN)).toEqual({ email_events: 1, suppressions: 1 });
    await query("update erased_addresses set due_at = now() where company_id = $1", [company.id]);
    const left = () =>
      queryOne<{ sealed: Buffer | null; due_at: Date | null }>(
        "select address_sealed as sealed, due_at from erased_addresses where company_id = $1",
        [company.id],
      );
    await call(app.broker, "subscribers.finishErasures", {});
    await until("done", left, (row) => row!.due_at === null);
    expect(await left()).toEqual({ sealed: null, due_at: null });
    expect(await rowsWith(ANN)).toEqual({});
  });

  test("is not touched in another company, and an unknown address erases nothing", async () => {
    const [company, other] = [await furnish(), await furnish()];
    await other.send("to-list", { template_id: other.template, list_id: other.list });
    const before = await rowsWith(ANN);
    const unknown = await erase(company, "nobody@nowhere.example");
    expect([unknown.status, new Set(Object.values(unknown.body.erased))]).toEqual([200, new Set([0])]);
    expect(await rowsWith(ANN)).toEqual(before);
    await erase(company, ANN);
    expect((await other.api.get(`/api/emails/subscribers/${other.ann}/`)).body.email).toBe(ANN);
    expect(await mailOfAnn(other, (await other.api.get("/api/emails/campaigns/")).body.results[0].id)).toMatchObject({
      recipient: ANN,
      status: "sent",
    });
    await erase(other, ANN);
    expect(await rowsWith(ANN)).toEqual({});
  });

  test("is refused as subscriber and suppression, skipped in sends and copies, and gets no waiting message", async () => {
    const company = await furnish();
    const { api, send, template, smtp } = company;
    // Scheduled with its receivers, and one waiting for its mail server.
    await query("update smtp_configs set backoff_until = now() + interval '1 hour' where id = $1", [smtp]);
    const body = { name: "W", subject: "S", body: "<p>B</p>", smtp_config_id: smtp, receivers: [{ email: ANN }] };
    const waiting = (await api.post("/api/emails/send/custom/", body)).body.id;
    await until(
      "queued",
      () => queryOne<{ n: number }>("select next_seq - 1 as n from campaigns where id = $1", [waiting]),
      (row) => row!.n === 1,
    );
    const had = server.messages.length;
    await erase(company, ANN);
    await query("update smtp_configs set backoff_until = null where id = $1", [smtp]);
    const campaign = await until(
      "settled",
      async () => (await api.get(`/api/emails/campaigns/${waiting}/`)).body,
      ({ status }) => status === "failed",
    );
    expect(campaign).toMatchObject({ total_emails: 1, sent_count: 0, failed_count: 1 });

    const again = await api.post("/api/emails/subscribers/", { email: "ANN.marie+news@ERASE-ME.example" });
    expect([again.status, Object.keys(again.body)]).toEqual([400, ["email"]]);
    const csv = `email,first_name\n${ANN},Ann\nnew@stays.example,New\n`;
    const imported = await api.post("/api/emails/subscribers/bulk/", fileForm(csv, "a.csv"));
    expect(imported.body).toMatchObject({ total: 2, created: 1, skipped: 1, errors: [{ row: 2, email: ANN }] });
    const blocked = await api.post("/api/emails/suppressions/", { email: ` ${ANN.toUpperCase()}`, kind: "bounced" });
    expect([blocked.status, Object.keys(blocked.body)]).toEqual([400, ["email"]]);
    const blocks = await api.post("/api/emails/suppressions/bulk/", { items: [{ email: ANN }] });
    expect(blocks.body).toEqual({ total: 1, created: 0, existing: 1, errors: [] });
    await send("to-receivers", {
      template_id: template,
      is_transactional: true,
      receivers: [
        { email: ANN, note: "x" },
        { email: BOB, cc: [ANN], bcc: [ANN] },
      ],
    });
    const to = server.messages.slice(had).flatMap(({ to }) => to);
    expect([to.includes(BOB), to.map((a) => a.toLowerCase()).includes(ANN.toLowerCase())]).toEqual([true, false]);
    expect(await rowsWith(ANN)).toEqual({});
  });

  test("returns by the public form, and only after confirming from that mailbox", async () => {
    const company = await furnish();
    const { api, id } = company;
    await erase(company, ANN);
    const had = server.messages.length;
    const form = await client(app, { ip: someIp() }).post(`/api/emails/public/subscribe/${id}/`, { email: ANN });
    expect([form.status, form.body]).toEqual([201, { detail: "Thank you." }]);
    // Messages of earlier tests may still arrive.
    const toConfirm = async () =>
      server.messages.slice(had).filter(({ raw }) => asRead(raw).includes("/public/confirm/"));
    const [mail] = await until("mailed", toConfirm, ({ length }) => length > 0);
    // The owner of the mailbox has confirmed; the company still may not add her.
    expect((await api.post("/api/emails/subscribers/", { email: ANN })).status).toBe(400);
    await query("update erased_addresses set due_at = now() where company_id = $1", [id]);
    await call(app.broker, "subscribers.finishErasures", {});
    const confirmed = await client(app, { ip: someIp() }).post(linkIn(asRead(mail!.raw), "confirm"));
    expect(confirmed.status).toBe(200);
    expect((await api.post("/api/emails/subscribers/", { email: ANN, first_name: "Ann" })).body).toMatchObject({
      email: ANN,
      status: "active",
    });
    expect((await erase(company, ANN)).body.erased.subscribers).toBe(1);
    expect(await rowsWith(ANN)).toEqual({});
  });

  test("is found beyond one batch of rows in every table that is scanned", async () => {
    const company = await furnish();
    const { id, smtp } = company;
    const campaign = async (mails: number) => {
      const campaignId = newId();
      await query(
        `insert into campaigns (id, company_id, name, campaign_type, status, total_emails, smtp_config_id, worker_task_id,
           next_seq, no, expansion_began_at, expanded_at)
         values ($1, $2, 'C', 'custom', 'completed', 1, $3, $1, $4 + 1, next_campaign_no(), now(), now())`,
        [campaignId, id, smtp, mails],
      );
      return campaignId;
    };
    const withCopies = await campaign(3_000);
    await query(
      `insert into sent_emails (campaign_no, seq, email, cc, variables, status)
       select no, n, 'o@stays.example', case n when 3000 then array[$2] end, '{"a": 1}', 3
       from campaigns, generate_series(1, 3000) n where id = $1`,
      [withCopies, ANN],
    );
    for (let n = 0; n < 3; n++) {
      const withVariables = await campaign(4_000);
      await query(
        `insert into sent_emails (campaign_no, seq, email, variables, status)
         select no, n, 'o@stays.example', case n when 4000 then jsonb_build_object('friend', $2::text) else '{"a": 1}' end, 2
         from campaigns, generate_series(1, 4000) n where id = $1`,
        [withVariables, ANN],
      );
      await query(
        `insert into campaign_receivers (campaign_id, company_id, no, email, variables)
         select $1, $2, n, case n when 2500 then $3 else 'o@stays.example' end, '{}' from generate_series(1, 2500) n`,
        [withVariables, id, ANN],
      );
      const endpoint = newId();
      await query(
        `insert into webhook_endpoints (id, company_id, url, events, secret_sealed, disabled_at)
         values ($1, $2, 'https://x.example', '{}', '', now())`,
        [endpoint, id],
      );
      await query(
        `insert into webhook_deliveries (company_id, endpoint_id, event_id, event_type, payload)
         select $1, $2, uuid_v7(), 'opened', jsonb_build_object('recipient', case n when 2500 then $3 else 'o' end)
         from generate_series(1, 2500) n`,
        [id, endpoint, ANN],
      );
    }
    const last = "case n when 6000 then $2 else 'o' end";
    await query(
      `insert into subscribers (company_id, email, last_name) select $1, 'p' || n || '@stays.example', ${last} from generate_series(1, 6000) n`,
      [id, ANN],
    );
    await query(
      `insert into audit_log (id, company_id, actor_type, actor_name, action, target)
       select uuid_v7(), $1, 'system', 'system', 'list.deleted', ${last} from generate_series(1, 6000) n`,
      [id, ANN],
    );
    await query(
      `insert into idempotency_keys (company_id, key, request_hash, response)
       select $1, 'k' || lpad(n::text, 6, '0') || case n when 6000 then $2 else '' end, '', '{}' from generate_series(1, 6000) n`,
      [id, ANN],
    );
    const { body } = await erase(company, ANN);
    expect(await rowsWith(ANN)).toEqual({});
    expect(body.complete).toBe(true);
    expect(body.erased).toMatchObject({
      subscribers: 1,
      receivers: 3,
      webhook_deliveries: 3,
      audit_log: 1,
      idempotency_keys: 1,
      // Bob's attribute, a name, and four messages to others.
      quotations: 6,
    });
    expect((await query("select from sent_emails where variables is not null")).length).toBeGreaterThan(14_000);
  });

  test("is completed after an interruption, and nothing is counted twice", async () => {
    const company = await furnish();
    await query(
      `insert into email_events (company_id, type, recipient) select $1, 'opened', $2 from generate_series(1, 2500)`,
      [company.id, ANN],
    );
    const { beginErasure, erasedPerson, eraseStep } = await import("../../../models/statements/erase-person.ts");
    const person = await erasedPerson(company.id, ANN);
    await transaction((on) => beginErasure(on, person, ANN));
    const events = ERASURE_TARGETS.findIndex(({ counted }) => counted === "events");
    const at = () =>
      queryOne<{ place: number; counts: { events?: number } }>(
        "select place, counts from erased_addresses where company_id = $1",
        [company.id],
      );
    // The first two runs are concurrent, as after an expired lease; then none follows.
    while ((await at())!.place < events || ((await at())!.counts.events ?? 0) < 1_000) {
      await Promise.all([eraseStep(person), eraseStep(person)]);
    }
    await query("update erased_addresses set due_at = now() where company_id = $1", [company.id]);
    await call(app.broker, "subscribers.finishErasures", {});
    const job = await until("over", at, (row) => row!.place === 0);
    expect(job!.counts).toMatchObject({ events: 2_500, subscribers: 1, lists: 1 });
    expect(await rowsWith(ANN)).toEqual({});
  });
});

describe("data of one person", () => {
  test("are all rows about the person, and nobody else's address", async () => {
    const company = await furnish();
    await fillWithAnn(company);
    const { api, ann } = company;
    const { status, body } = await api.get(`/api/emails/subscribers/${ann}/data/`);
    expect([status, body.truncated]).toEqual([200, []]);
    expect(body.subscriber).toMatchObject({ id: ann, email: ANN, attributes: { city: "Łódź" } });
    const counts = Object.fromEntries(
      Object.entries(body)
        .filter(([, rows]) => Array.isArray(rows))
        .map(([kind, rows]) => [kind, (rows as []).length]),
    );
    expect(counts).toMatchObject({ lists: 1, sent_emails: 7, copies: 2, suppressions: 1, truncated: 0 });
    expect(new Set(body.events.map((event: { type: string }) => event.type))).toEqual(
      new Set(["opened", "clicked", "unsubscribed", "bounced"]),
    );
    expect(body.sent_emails.map((m: { status: string }) => m.status)).toContain("bounced");
    expect(body.webhook_deliveries.length).toBeGreaterThan(4);
    expect(JSON.stringify(body)).not.toContain("@stays.example");
    expect(body.soft_bounces).toBe(0);
    expect([body.form_values, body.list_requests, body.address_changes]).toEqual([[], [], []]);
    expect((await (await newCompany(app)).api.get(`/api/emails/subscribers/${ann}/data/`)).status).toBe(404);
  });

  test("include earlier data of the address, which is deleted with the person", async () => {
    const home = "ann@new-home.example";
    const others = await rowsWith(ANN);
    const company = await furnish();
    const { api, ann, id, list, template } = company;
    await company.send("to-list", { template_id: template, list_id: list });
    const browser = client(app, { ip: "203.0.113.9", headers: { "user-agent": FIREFOX } });
    await browser.get(linkIn(lastToAnn(), "click"));
    const preferences = `/api/emails/public/preferences/${personToken("preferences", id, ann)}/`;
    expect((await browser.put(preferences, { email: home })).status).toBe(200);
    const toHome = () => Promise.resolve(server.messages.findLast(({ to }) => to[0] === home));
    const { raw } = (await until("mailed", toHome, (mail) => mail !== undefined))!;
    const link = linkIn(raw.replace(/=\r\n/g, "").replaceAll("=3D", "="), "address");
    expect((await browser.post(new URL(link).pathname)).status).toBe(200);

    const { body } = await api.get(`/api/emails/subscribers/${ann}/data/`);
    expect(body.subscriber.email).toBe(home);
    expect(body.former_addresses).toMatchObject([{ email: ANN }]);
    expect(body.events).toMatchObject([{ type: "clicked", recipient: ANN }]);
    await browser.put(preferences, { email: "never@confirmed.example" });
    const later = await api.post("/api/emails/lists/", { name: "Later", double_opt_in: true });
    await query("update companies set form_attributes = '{city}' where id = $1", [id]);
    const form = { email: home, first_name: "Anna", city: "Brno", list_id: later.body.id };
    expect((await browser.post(`/api/emails/public/subscribe/${id}/`, form)).status).toBe(201);
    expect((await api.get(`/api/emails/subscribers/${ann}/data/`)).body).toMatchObject({
      form_values: [{ first_name: "Anna", last_name: null, attributes: { city: "Brno" } }],
      list_requests: [{ id: later.body.id, name: "Later" }],
      address_changes: [{ email: "never@confirmed.example" }],
    });
    expect(await rowsWith(ANN)).toMatchObject({ former_addresses: 1 });

    // The confirmation may be written while the person is erased, and its row would be found.
    const allToHome = () => Promise.resolve(server.messages.filter(({ to }) => to[0] === home));
    await until("confirmation", allToHome, ({ length }) => length > 1);
    const erased = await erase(company, home);
    expect([erased.status, erased.body.complete, erased.body.erased.subscribers]).toEqual([200, true, 1]);
    expect(await rowsWith(home)).toEqual({});
    expect(await rowsWith(ANN)).toEqual(others);
    expect(await query("select from address_changes where company_id = $1", [id])).toEqual([]);
    const again = await api.post("/api/emails/subscribers/", { email: ANN });
    expect(again.status).toBe(400);
  });
});
