/** Walks one customer through the whole API: every operation of the document succeeds at least once. */
import { setTimeout as sleep } from "node:timers/promises";
import { AccountToken } from "../../../models/account-token.ts";
import { query } from "../../../models/database/db.ts";
import { InboundMessage, InboundRaw } from "../../../models/inbound-message.ts";
import { pathNames } from "../../../services/gateway/http/params.ts";
import { routes } from "../../../services/gateway/routes.ts";
import { newId } from "../../../services/lib/ids.ts";
import { keysFor } from "../../../services/lib/secrets.ts";
import { accountToken } from "../../../services/lib/tokens/account-token.ts";
import { LinkTokens } from "../../../services/lib/tokens/link-token.ts";
import { personToken } from "../../../services/lib/tokens/person-token.ts";
import { type App, startApp } from "../../support/app.ts";
import {
  type Answer,
  client,
  fileForm,
  newCompany,
  type RequestOptions,
  someIp,
  type TestCompany,
} from "../../support/client.ts";
import { type SmtpServer, startSmtpServer } from "../../support/smtp-server.ts";
import { totpCode, totpStep } from "../../support/totp.ts";

const E = "/api/emails";
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();
type Ids = Record<string, string>;

describe("every operation", () => {
  let app: App;
  let smtp: SmtpServer;
  let company: TestCompany;
  const succeeded = new Set<string>();

  beforeAll(async () => {
    smtp = await startSmtpServer();
    app = await startApp();
    company = await newCompany(app);
  });
  afterAll(async () => {
    await app.stop();
    await smtp.stop();
  });

  /** Calls the route as spelled in routes.ts and expects its success. */
  async function call(spelled: string, ids: Ids = {}, body?: object, options: RequestOptions = {}): Promise<Answer> {
    const [method, path] = spelled.split(" ") as [string, string];
    const route = routes.find((one) => one.method === method && one.path === path)!;
    expect(route).toBeDefined();
    const credentials = {
      company: { key: company.key },
      user: { token: company.token },
      person: { token: company.token },
      anyone: { ip: someIp() },
      public: { ip: someIp() },
    };
    const target = pathNames(path).reduce(
      (text, name) => text.replace(`:${name}`, encodeURIComponent(ids[name]!)),
      path,
    );
    const answer = await client(app, credentials[route.access]).request(method, target, body, options);
    expect({ spelled, status: answer.status, text: answer.text.slice(0, 300) }).toMatchObject({ status: route.status });
    succeeded.add(spelled);
    return answer;
  }

  async function until<T>(what: () => Promise<T | undefined>): Promise<T> {
    for (const deadline = Date.now() + 50_000; Date.now() < deadline; await sleep(50)) {
      const found = await what();
      if (found !== undefined) return found;
    }
    throw new Error("It did not happen in time");
  }

  const things: Ids = {};

  test("accounts", async () => {
    const id = company.id;
    const owner = { email: "second@example.com", password: "correct horse battery" };
    await call("POST /api/auth/register/", {}, { ...owner, company_name: "Second" });
    const { refresh, user } = (await call("POST /api/auth/login/", {}, owner)).body;
    await call("POST /api/auth/token/refresh/", {}, { refresh });
    await call("GET /api/companies/:id/", { id });
    await call("PATCH /api/companies/:id/", { id }, { website: "https://example.com" });
    await call("GET /api/companies/:id/plan/", { id });
    const sample = (await call("POST /api/companies/:id/sample-data/", { id })).body;
    expect((await call("GET /api/companies/:id/sample-data/", { id })).body).toEqual(sample);
    await call("DELETE /api/companies/:id/sample-data/", { id });
    const { body } = await call("POST /api/companies/:id/api-keys/", { id }, { name: "spare" });
    await call("GET /api/companies/:id/api-keys/", { id });
    await call("DELETE /api/companies/:id/api-keys/:key_id/", { id, key_id: body.id });
    const invited = await call("POST /api/companies/:id/members/", { id }, { email: owner.email, role: "member" });
    const token = new URL(invited.body.invite_url).searchParams.get("token")!;
    const accepted = { token: (await client(app, { ip: someIp() }).post("/api/auth/login/", owner)).body.access };
    await call("POST /api/auth/invitations/:token/", { token }, {}, accepted);
    await call("GET /api/companies/:id/members/", { id });
    expect((await call("GET /api/companies/:id/audit-log/", { id })).body.count).toBeGreaterThan(3);
    await call("PATCH /api/companies/:id/members/:user_id/", { id, user_id: user.id }, { role: "admin" });
    await call("DELETE /api/companies/:id/members/:user_id/", { id, user_id: user.id });
  });

  test("the person's own account", async () => {
    const { email, password } = company;
    const login = await client(app, { ip: someIp() }).post("/api/auth/login/", { email, password });
    await call("GET /api/auth/me/");
    await call("POST /api/companies/", {}, { name: "Another" });
    const { body: sessions } = await call("GET /api/auth/sessions/");
    const other = sessions.find(({ current }: { current: boolean }) => !current);
    await call("POST /api/auth/logout/", {}, { refresh: login.body.refresh });
    const again = await client(app, { ip: someIp() }).post("/api/auth/login/", { email, password });
    const { body: now } = await client(app, { token: again.body.access }).get("/api/auth/sessions/");
    const own = now.find(({ current }: { current: boolean }) => current);
    expect(own.id).not.toBe(other.id);
    await call("DELETE /api/auth/sessions/:id/", { id: own.id });

    const { secret } = (await call("POST /api/auth/totp/")).body;
    const code = (step: number) => totpCode(secret, totpStep() + step);
    await call("POST /api/auth/totp/confirm/", {}, { code: code(0) });
    await call("DELETE /api/auth/totp/", {}, { password, code: code(1) });

    const verify = await AccountToken.create({
      kind: "verify",
      userId: company.userId,
      expiresAt: new Date(Date.now() + 60_000),
    });
    await call("POST /api/auth/verify/resend/");
    await call("POST /api/auth/verify/", {}, { token: accountToken("verify", verify.id) });
    company.password = "a better battery";
    const changed = { current_password: password, new_password: company.password };
    company.token = (await call("POST /api/auth/password/change/", {}, changed)).body.access;
    await call("POST /api/auth/password/reset/", {}, { email });
    const reset = await until(async () => {
      const where = { kind: "reset" as const, userId: company.userId, spentAt: null };
      return (await AccountToken.findOne({ where })) ?? undefined;
    });
    company.password = "the best battery";
    const wanted = { token: accountToken("reset", reset.id), new_password: company.password };
    await call("POST /api/auth/password/reset/confirm/", {}, wanted);
    const last = await client(app, { ip: someIp() }).post("/api/auth/login/", { email, password: company.password });
    company.token = last.body.access;
  });

  test("subscribers, lists, segments, suppressions", async () => {
    things.list = (await call(`POST ${E}/lists/`, {}, { name: "Readers" })).body.id;
    await call(`GET ${E}/lists/`);
    await call(`GET ${E}/lists/:id/`, { id: things.list! });
    await call(`PATCH ${E}/lists/:id/`, { id: things.list! }, { description: "Who reads" });
    const ann = { email: "ann@example.com", first_name: "Ann", attributes: { city: "Köln" }, lists: [things.list] };
    things.subscriber = (await call(`POST ${E}/subscribers/`, {}, ann)).body.id;
    await call(`GET ${E}/subscribers/`);
    await call(`GET ${E}/subscribers/:id/`, { id: things.subscriber! });
    await call(`PATCH ${E}/subscribers/:id/`, { id: things.subscriber! }, { last_name: "Lee" });
    const imported = await call(
      `POST ${E}/subscribers/bulk/`,
      {},
      fileForm("email,first_name\nbob@example.com,Bob\nx,\n", "a.csv"),
    );
    expect(imported.body).toMatchObject({ total: 2, created: 1, skipped: 1 });
    const behind = fileForm("email\nx\n", "a.csv", { background: "true" });
    const { import_id } = (await client(app, { key: company.key }).post(`${E}/subscribers/bulk/`, behind)).body;
    await call(`GET ${E}/imports/:id/`, { id: import_id });
    await call(`GET ${E}/imports/:id/errors/`, { id: import_id });
    const held = async () => (await call(`POST ${E}/imports/`, {}, fileForm("email\nx\n", "a.csv"))).body.id as string;
    const [one, other] = [await held(), await held()];
    expect((await call(`GET ${E}/imports/:id/columns/`, { id: one })).body).toMatchObject({ problem: null });
    await call(`POST ${E}/imports/:id/start/`, { id: one }, { dry_run: true });
    await call(`POST ${E}/imports/:id/undo/`, { id: other });
    await call(`DELETE ${E}/imports/:id/`, { id: other });
    expect((await call(`GET ${E}/imports/`)).body.count).toBe(2);
    const bob = (await client(app, { key: company.key }).get(`${E}/subscribers/`, { query: { search: "bob@" } })).body
      .results[0].id;
    await call(`POST ${E}/subscribers/bulk-update-lists/`, {}, { subscriber_ids: [bob], add_to_lists: [things.list] });
    await call(`POST ${E}/subscribers/bulk-suppress/`, {}, { filter: { search: "nobody-has-this" } });
    await call(`GET ${E}/lists/:id/subscribers/`, { id: things.list! });
    await call(`GET ${E}/subscribers/export/`);
    expect((await call(`GET ${E}/subscribers/attributes/`)).body).toEqual({ names: ["city"] });
    await call(`GET ${E}/subscribers/:id/data/`, { id: things.subscriber! });
    await call(`GET ${E}/subscribers/:id/lists/`, { id: things.subscriber! });
    await call(`POST ${E}/subscribers/erase/`, {}, { email: "nobody@example.com" });
    const conditions = [{ field: "email", operator: "ends_with", value: "example.com" }];
    await call(`POST ${E}/segments/preview/`, {}, { rules: { conditions } });
    const id = (await call(`POST ${E}/segments/`, {}, { name: "S", rules: { match: "all", conditions } })).body.id;
    await call(`GET ${E}/segments/`);
    await call(`GET ${E}/segments/:id/`, { id });
    await call(`PATCH ${E}/segments/:id/`, { id }, { name: "T" });
    await call(`GET ${E}/segments/:id/subscribers/`, { id });
    await call(`DELETE ${E}/segments/:id/`, { id });
    const suppression = (await call(`POST ${E}/suppressions/`, {}, { domain: "blocked.example" })).body.id;
    await call(`GET ${E}/suppressions/`);
    await call(`POST ${E}/suppressions/bulk/`, {}, { items: [{ email: "gone@example.com", kind: "bounced" }] });
    expect((await call(`GET ${E}/suppressions/export/`)).text).toContain("gone@example.com,,bounced");
    await call(`GET ${E}/suppressions/:id/`, { id: suppression });
    await call(`DELETE ${E}/suppressions/:id/`, { id: suppression });
    await call(`POST ${E}/subscribers/bulk-delete/`, {}, { subscriber_ids: [bob] });
  });

  test("templates, media, SMTP configurations, webhook endpoints", async () => {
    const body = '<p>Hello [[first_name]], <a href="https://example.com/">look</a></p>';
    things.template = (
      await call(`POST ${E}/templates/`, {}, { name: "T", subject: "Hi [[first_name]]", body })
    ).body.id;
    await call(`GET ${E}/templates/`);
    await call(`GET ${E}/templates/:id/`, { id: things.template! });
    await call(`PATCH ${E}/templates/:id/`, { id: things.template! }, { name: "U" });
    const preview = await call(
      `POST ${E}/templates/:id/preview/`,
      { id: things.template! },
      { variables: { first_name: "Ann" } },
    );
    expect(preview.body.subject).toBe("Hi Ann");
    const checked = await call(`POST ${E}/templates/check/`, {}, { subject: "Hi", body: "<p>Hello</p>" });
    expect(checked.body).toMatchObject({ size: 12, links: [], spam: null });
    const unsaved = await call(`POST ${E}/templates/preview/`, {}, { subject: "Hi", body: "<p>Hello</p>" });
    expect(unsaved.body).toMatchObject({ subject: "Hi", html: expect.stringContaining("Hello") });
    expect((await call(`POST ${E}/templates/update-designs/`)).body).toMatchObject({ failed: [] });
    const blocks = [{ type: "divider" }];
    const { id: saved } = (await call(`POST ${E}/saved-blocks/`, {}, { name: "Line", blocks })).body;
    expect((await call(`GET ${E}/saved-blocks/`)).body.results).toMatchObject([{ name: "Line" }]);
    expect((await call(`GET ${E}/saved-blocks/:id/`, { id: saved })).body).toMatchObject({ blocks });
    await call(`PATCH ${E}/saved-blocks/:id/`, { id: saved }, { name: "Rule", blocks });
    await call(`DELETE ${E}/saved-blocks/:id/`, { id: saved });
    const first = { id: things.template!, version: "1" };
    expect((await call(`GET ${E}/templates/:id/versions/`, first)).body).toHaveLength(2);
    expect((await call(`GET ${E}/templates/:id/versions/:version/`, first)).body).toMatchObject({ version: 1, body });
    expect((await call(`POST ${E}/templates/:id/versions/:version/restore/`, first)).body.name).toBe("T");
    const media = (await call(`POST ${E}/media/`, {}, fileForm("a text", "a.txt"))).body;
    await call(`GET ${E}/media/`);
    await call(`GET ${E}/media/:id/`, { id: media.id });
    expect((await call(`GET ${E}/public/media/:id/:filename`, { id: media.id, filename: "a.txt" })).text).toBe(
      "a text",
    );
    expect((await call(`GET ${E}/media/:id/usage/`, { id: media.id })).body).toMatchObject({ template_count: 0 });
    await call(`PATCH ${E}/media/:id/`, { id: media.id }, { folder: "Texts", alt: "A text" });
    expect((await call(`GET ${E}/media/folders/`)).body).toEqual([{ folder: "Texts", count: 1 }]);
    await call(`DELETE ${E}/media/:id/`, { id: media.id });
    const dot = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");
    const image = (await call(`POST ${E}/media/`, {}, fileForm(dot, "dot.gif", { folder: "Dots" }))).body;
    const copied = await call(`POST ${E}/media/:id/copies/`, { id: image.id }, { format: "png" });
    expect(copied.body).toMatchObject({ copy_of: image.id, folder: "Dots", content_type: "image/png" });
    const relay = { host: "127.0.0.1", port: smtp.port, username: "", password: "", use_tls: false };
    things.smtp = (
      await call(`POST ${E}/smtp-configs/`, {}, { ...relay, name: "Relay", sender_email: "news@example.com" })
    ).body.id;
    await call(`GET ${E}/smtp-configs/`);
    await call(`GET ${E}/smtp-configs/:id/`, { id: things.smtp! });
    const key = { domain: "acme.example", selector: "fm1", algorithm: "ed25519" };
    await call(`POST ${E}/smtp-configs/:id/dkim/`, { id: things.smtp! }, key);
    await call(`GET ${E}/smtp-configs/:id/deliverability/`, { id: things.smtp! });
    await call(`POST ${E}/smtp-configs/:id/validate/`, { id: things.smtp! });
    await call(`GET ${E}/stats/slow-domains/`);
    await call(`PATCH ${E}/smtp-configs/:id/`, { id: things.smtp! }, { sender_name: "News" });
    expect((await call(`POST ${E}/smtp/validate/`, {}, relay)).body).toMatchObject({ valid: true, stage: "ok" });
    const source = (await call(`POST ${E}/inbound-sources/`, {}, { provider: "brevo" })).body;
    await call(`GET ${E}/inbound-sources/`);
    const [provider, token] = new URL(source.url).pathname.split("/").slice(4) as [string, string];
    const bounced = { event: "hard_bounce", email: "nobody@example.com" };
    await call(`POST ${E}/inbound/:provider/:token/`, { provider, token }, bounced);
    await call(`DELETE ${E}/inbound-sources/:id/`, { id: source.id });
    const hook = { url: "http://127.0.0.1:9/hook", events: ["opened"] };
    const id = (await call(`POST ${E}/webhook-endpoints/`, {}, hook)).body.id;
    await call(`GET ${E}/webhook-endpoints/`);
    await call(`GET ${E}/webhook-endpoints/:id/`, { id });
    await call(`PUT ${E}/webhook-endpoints/:id/`, { id }, hook);
    await call(`POST ${E}/webhook-endpoints/:id/rotate-secret/`, { id });
    const delivery = (await call(`POST ${E}/webhook-endpoints/:id/test/`, { id })).body.id;
    await call(`GET ${E}/webhook-endpoints/:id/deliveries/`, { id });
    await call(`GET ${E}/webhook-endpoints/:id/deliveries/:delivery_id/`, { id, delivery_id: delivery });
    await call(`POST ${E}/webhook-endpoints/:id/deliveries/:delivery_id/redeliver/`, { id, delivery_id: delivery });
    await call(`DELETE ${E}/webhook-endpoints/:id/`, { id });
  });

  test("campaigns: scheduled, cancelled, sent, refused and resumed", async () => {
    const send = { name: "C", template_id: things.template, smtp_config_id: things.smtp };
    const later = await call(
      `POST ${E}/send/to-list/`,
      {},
      { ...send, list_id: things.list, scheduled_for: inAnHour() },
    );
    await call(`PATCH ${E}/campaigns/:id/`, { id: later.body.id }, { name: "Even later" });
    await call(`POST ${E}/campaigns/:id/cancel/`, { id: later.body.id });
    await call(`DELETE ${E}/campaigns/:id/`, { id: later.body.id });
    const custom = {
      name: "C",
      smtp_config_id: things.smtp,
      subject: "s",
      body: "b",
      receivers: [{ email: "cy@example.com" }],
    };
    await call(`POST ${E}/send/custom/`, {}, custom);
    const test = { smtp_config_id: things.smtp, to: ["cy@example.com"], template_id: things.template };
    expect((await call(`POST ${E}/send/test/`, {}, test)).body.results[0].status).toBe("sent");
    const draft = await call(`POST ${E}/drafts/`, {}, { name: "D", kind: "custom", body: { subject: "s" } });
    const { id: draftId } = draft.body;
    await call(`GET ${E}/drafts/`);
    await call(`PATCH ${E}/drafts/:id/`, { id: draftId }, { body: custom });
    expect((await call(`GET ${E}/drafts/:id/`, { id: draftId })).body).toMatchObject({ name: "D", body: custom });
    expect((await call(`GET ${E}/drafts/:id/check/`, { id: draftId })).body).toEqual({ errors: {} });
    await call(`POST ${E}/drafts/:id/preview/`, { id: draftId }, { email: "ann@example.com" });
    await call(`GET ${E}/send/audience/`, {}, undefined, { query: { list_id: things.list! } });
    const fromDraft = await call(`POST ${E}/drafts/:id/send/`, { id: draftId });
    const copy = await call(`POST ${E}/campaigns/:id/duplicate/`, { id: fromDraft.body.id });
    await call(`DELETE ${E}/drafts/:id/`, { id: copy.body.id });
    // 4xx at RCPT keeps it waiting for a retry until it is stopped.
    smtp.options.answer = ({ verb }) => (verb === "RCPT" ? "450 4.2.1 later" : undefined);
    const waiting = (await call(`POST ${E}/send/custom/`, {}, custom)).body.id;
    await call(`POST ${E}/campaigns/:id/stop/`, { id: waiting });

    // The first of two is refused, so that there is something to resume.
    smtp.options.answer = ({ verb, to }) => (verb === "RCPT" && to === "dan@example.com" ? "550 5.7.1 no" : undefined);
    const receivers = [{ email: "dan@example.com" }, { email: "eve@example.com" }];
    const id = (await call(`POST ${E}/send/to-receivers/`, {}, { ...send, receivers })).body.id;
    const ended = (status: string) => async () => {
      const { body } = await call(`GET ${E}/campaigns/:id/`, { id });
      return body.status === status ? body : undefined;
    };
    await until(ended("partial"));
    smtp.options.answer = undefined;
    await call(`POST ${E}/campaigns/:id/resume/`, { id });
    await until(ended("completed"));
    await call(`POST ${E}/campaigns/:id/resend/`, { id }, { to: "non_openers" });
    await call(`GET ${E}/campaigns/`);
    await call(`GET ${E}/campaigns/:id/analytics/`, { id });
    await call(`GET ${E}/campaigns/:id/failures/`, { id });
    await call(`GET ${E}/campaigns/:id/content/`, { id });
    expect((await call(`GET ${E}/campaigns/:id/stream/`, { id })).text).toMatch(
      /^event: progress\ndata: \{.+\}\n\nevent: end\n/,
    );
    expect((await call(`GET ${E}/campaigns/:id/export/`, { id })).text).toContain("dan@example.com,sent");
    const { body } = await call(`GET ${E}/sent-emails/`, {}, undefined, {
      query: { campaign: id, recipient: "eve@example.com" },
    });
    things.mail = body.results[0].id;
  });

  test("hits and requests of readers", async () => {
    const mail = { sent_email_id: things.mail! };
    const pixel = new LinkTokens(keysFor("link")[0]!, things.mail!).text(0);
    const link = /\/api\/emails\/public\/click\/([\w-]+)\//.exec(
      smtp.messages.at(-1)!.raw.replaceAll(/=\r\n/g, ""),
    )![1]!;
    await call(`GET ${E}/public/open/:token.gif`, { token: pixel! });
    await call(`GET ${E}/public/click/:token/`, { token: link });
    await call(`GET ${E}/public/view/:sent_email_id/`, mail);
    const open = { name: "Open", visibility: "public", archive: true };
    const list_id = (await call(`POST ${E}/lists/`, {}, open)).body.id;
    const send = { name: "C", template_id: things.template, smtp_config_id: things.smtp, list_id };
    const campaign_id = (await call(`POST ${E}/send/to-list/`, {}, send)).body.id;
    await until(async () => {
      const { body } = await call(`GET ${E}/campaigns/:id/`, { id: campaign_id });
      return body.status === "completed" ? body : undefined;
    });
    expect((await call(`GET ${E}/public/archive/:list_id/`, { list_id })).text).toContain(campaign_id);
    await call(`GET ${E}/public/archive/:list_id/feed.xml`, { list_id });
    await call(`GET ${E}/public/archive/:list_id/:campaign_id/`, { list_id, campaign_id });
    await call(`GET ${E}/public/unsubscribe/:sent_email_id/`, mail);
    await call(
      `POST ${E}/public/unsubscribe/:sent_email_id/`,
      mail,
      new URLSearchParams({ "List-Unsubscribe": "One-Click" }),
    );
    await call(`GET ${E}/public/subscribe/:company_id/`, { company_id: company.id });
    await call(`POST ${E}/public/subscribe/:company_id/`, { company_id: company.id }, { email: "fay@example.com" });
    const tokenFor = (kind: "confirm" | "preferences", expiresAt?: Date) => ({
      token: personToken(kind, company.id, things.subscriber!, expiresAt),
    });
    await call(`GET ${E}/public/confirm/:token/`, tokenFor("confirm", new Date(Date.now() + 60_000)));
    await call(`POST ${E}/public/confirm/:token/`, tokenFor("confirm", new Date(Date.now() + 60_000)));
    const [changeId, newEmail] = [newId(), "anna@example.com"];
    await query(
      `insert into address_changes (company_id, subscriber_id, id, email, email_key, asked_at, accept_language, is_unsent)
       values ($1, $2, $3, $4, $4, now(), '', false)`,
      [company.id, things.subscriber!, changeId, newEmail],
    );
    const soon = new Date(Date.now() + 60_000);
    const change = { token: personToken("address", company.id, things.subscriber!, soon, changeId) };
    await call(`GET ${E}/public/address/:token/`, change);
    await call(`POST ${E}/public/address/:token/`, change);
    const json = { headers: { Accept: "application/json" } };
    expect(
      (await call(`GET ${E}/public/preferences/:token/`, tokenFor("preferences"), undefined, json)).body.email,
    ).toBe(newEmail);
    await call(`PUT ${E}/public/preferences/:token/`, tokenFor("preferences"), { first_name: "Anna" }, json);
    await call(
      `POST ${E}/public/preferences/:token/`,
      tokenFor("preferences"),
      new URLSearchParams({ subscribed: "on" }),
    );
    const complaint = { sent_email_id: things.mail, type: "complaint" };
    const came = (await call(`POST ${E}/bounces/`, {}, complaint)).body;
    expect(came).toMatchObject({ result: "complained", via: "api", sent_email_id: things.mail, raw_url: null });
    const rawId = newId();
    await InboundRaw.create({ id: rawId, companyId: company.id, raw: Buffer.from("Subject: Spam\r\n\r\n") });
    await InboundMessage.update({ rawId }, { where: { id: came.id } });
    const [listed] = (await call(`GET ${E}/inbound/`)).body.results;
    expect(listed).toEqual({ ...came, raw_url: `${E}/inbound/${came.id}/raw/` });
    expect((await call(`GET ${E}/inbound/:id/raw/`, { id: came.id })).text).toContain("Subject: Spam");
    const { body: stats } = await call(`GET ${E}/stats/`);
    expect(stats.sending.at(-1).sent).toBeGreaterThan(0);
    const { body: domains } = await call(`GET ${E}/stats/domains/`);
    expect(domains).toEqual(expect.any(Array));
    const { body } = await call(`GET ${E}/events/`);
    expect(body.results.map(({ type }: { type: string }) => type)).toEqual(expect.arrayContaining(["unsubscribed"]));
  });

  test("deleting everything works; after that every route has been called", async () => {
    await call(`DELETE ${E}/subscribers/:id/`, { id: things.subscriber! });
    await call(`DELETE ${E}/lists/:id/`, { id: things.list! });
    await call(`DELETE ${E}/templates/:id/`, { id: things.template! });
    await call(`DELETE ${E}/smtp-configs/:id/`, { id: things.smtp! });
    await call("DELETE /api/companies/:id/", { id: company.id }, { password: company.password });
    expect(routes.map(({ method, path }) => `${method} ${path}`).filter((spelled) => !succeeded.has(spelled))).toEqual(
      [],
    );
  });
});
