/** Campaigns through all services to a real SMTP server. */
import { simpleParser } from "mailparser";
import { query } from "../../../models/database/db.ts";
import { catalogues } from "../../../services/lib/i18n/languages.ts";
import { type App, startApp } from "../../support/app.ts";
import { newCompany, someIp, type TestCompany } from "../../support/client.ts";
import { type Answer, type Command, type SmtpServer, startSmtpServer } from "../../support/smtp-server.ts";
import { until } from "./world.ts";

const API = "/api/emails";

describe("a campaign from request to delivery", () => {
  let app: App;
  let server: SmtpServer;
  let answer: (command: Command) => Answer;
  let company: TestCompany;
  let template: string;
  let smtp: string;
  let list: string;
  beforeAll(async () => {
    server = await startSmtpServer({ answer: (command) => answer(command) });
    app = await startApp();
  });
  afterAll(async () => {
    await app.stop();
    await server.stop();
  });
  beforeEach(async () => {
    answer = () => undefined;
    server.messages.length = 0;
    company = await newCompany(app);
    const { api } = company;
    const config = { name: "S", host: "127.0.0.1", port: server.port, username: "", password: "", use_tls: false };
    smtp = (await api.post(`${API}/smtp-configs/`, { ...config, sender_email: "news@acme.example" })).body.id;
    template = (await api.post(`${API}/templates/`, { name: "T", subject: "Hi [[email]]", body: "<p>Hi</p>" })).body.id;
    list = (await api.post(`${API}/lists/`, { name: "Readers" })).body.id;
  });

  const members = (count: number) =>
    query(
      `with added as (
         insert into subscribers (company_id, email) select $1, 'u' || n || '@example.com' from generate_series(1, $3::int) n returning id)
       insert into list_members (company_id, list_id, subscriber_id) select $1, $2, id from added`,
      [company.id, list, count],
    );
  const send = async (extra: object = {}) => {
    const given = { name: "News", template_id: template, smtp_config_id: smtp, list_id: list, ...extra };
    const sent = await company.api.post(`${API}/send/to-list/`, given);
    expect(sent.status).toBe(201);
    return sent.body.id as string;
  };
  const read = async (id: string) => (await company.api.get(`${API}/campaigns/${id}/`)).body;
  const ended = (id: string) =>
    until(
      () => read(id),
      ({ status }) => !["pending", "sending", "scheduled"].includes(status),
      20_000,
    );

  test("a server being warmed up sends its daily limit; the rest waits, shows this, and is sent when the warm-up ends", async () => {
    const { api } = company;
    // Time zone in which it is about noon, so that the day does not change during the test.
    const east = 12 - new Date().getUTCHours();
    const timezone = `Etc/GMT${east > 0 ? "-" : "+"}${Math.abs(east)}`;
    expect((await api.patch(`/api/companies/${company.id}/`, { timezone })).status).toBe(200);
    const warmup = { start_per_day: 15, factor: 2, until_per_day: 100 };
    expect(await api.patch(`${API}/smtp-configs/${smtp}/`, { warmup })).toMatchObject({
      status: 200,
      body: { warmup },
    });
    await members(40);
    const id = await send();
    const waiting = await until(
      () => read(id),
      ({ sent_count, error }) => sent_count === 15 && error !== null,
      60_000,
    );
    expect(waiting).toMatchObject({
      status: "sending",
      failed_count: 0,
      error: expect.stringMatching(/^Waiting for warm-up: the 15 mails of its day 1 have left\. It goes on at \d{4}-/),
    });
    const listed = (await api.get(`${API}/campaigns/`)).body.results;
    expect(listed.map(({ error }: { error: string }) => error)).toEqual([waiting.error]);
    expect(server.messages).toHaveLength(15);
    expect((await api.patch(`${API}/smtp-configs/${smtp}/`, { warmup: null })).body.warmup).toBeNull();
    expect(await ended(id)).toMatchObject({ status: "completed", sent_count: 40, error: null });
    expect(new Set(server.messages.map(({ to }) => to[0])).size).toBe(40);
  });

  test("reaches each of 700 members with one mail and is completed", async () => {
    await members(700);
    const id = await send();
    expect(await ended(id)).toMatchObject({ status: "completed", total_emails: 700, sent_count: 700, failed_count: 0 });
    expect(new Set(server.messages.map(({ to }) => to[0])).size).toBe(700);
    expect(server.messages).toHaveLength(700);
  });

  test("is sent at each recipient's local hour, and at once where that hour has passed", async () => {
    await members(3);
    for (const [email, timezone] of [
      ["u1@example.com", "Etc/GMT-9"],
      ["u3@example.com", "Etc/GMT+9"],
    ])
      await query(
        "update subscribers set attributes = jsonb_build_object('timezone', $3::text) where company_id = $1 and email = $2",
        [company.id, email, timezone],
      );
    const sentTo = () => server.messages.map(({ to }) => to[0]);
    const at = Date.now() + 4_000;
    const id = await send({ scheduled_for: new Date(at).toISOString(), timezone: "recipient" });
    const begun = await until(
      () => read(id),
      ({ sent_count }) => sent_count > 0,
    );
    expect(begun).toMatchObject({ status: "sending", timezone: "recipient", error: null });
    expect(await company.api.post(`${API}/campaigns/${id}/cancel/`)).toMatchObject({ status: 400 });
    await until(
      async () => sentTo(),
      ({ length }) => length > 1,
    );
    expect(Date.now()).toBeGreaterThanOrEqual(at);
    expect(sentTo()).toEqual(["u1@example.com", "u2@example.com"]);
    const waiting = await read(id);
    expect(waiting).toMatchObject({ status: "sending", next_zone_at: new Date(at + 9 * 3_600_000).toISOString() });
    await company.api.post(`${API}/campaigns/${id}/stop/`);
    expect(await ended(id)).toMatchObject({ status: "partial", sent_count: 2, failed_count: 1 });
  });

  test("has tagged addresses behind its tracked links, and tagged links in copies", async () => {
    const { api } = company;
    const given = {
      name: "Tagged",
      smtp_config_id: smtp,
      subject: "Hi",
      body: '<p><a href="https://example.com/a?b=1#c">look</a></p>',
      receivers: [{ email: "ann@example.com", cc: ["bob@example.com"] }],
      utm: { source: "news", medium: "email" },
    };
    const refused = await api.post(`${API}/send/custom/`, { ...given, utm: { sorce: "news", medium: " ", term: 1 } });
    expect(refused).toMatchObject({
      status: 400,
      body: { utm: expect.arrayContaining(['Unknown field "sorce".', "medium: This field may not be blank."]) },
    });
    const sent = await api.post(`${API}/send/custom/`, given);
    expect(sent.status).toBe(201);
    await ended(sent.body.id);
    await until(
      async () => server.messages,
      ({ length }) => length === 2,
    );
    const hrefOf = async (to: string) => {
      const { html } = await simpleParser(server.messages.find((one) => one.to.includes(to))!.raw);
      return /<a href="([^"]+)">look/.exec(html || "")![1]!;
    };
    expect(await hrefOf("bob@example.com")).toBe("https://example.com/a?b=1#c");
    const followed = await api.get(new URL(await hrefOf("ann@example.com")).pathname);
    expect([followed.status, followed.headers.get("location")]).toEqual([
      302,
      "https://example.com/a?b=1&utm_source=news&utm_medium=email#c",
    ]);
  });

  test("is partial if some recipients are refused; a resume sends to them only and completes it", async () => {
    await members(20);
    answer = ({ verb, to }) => (verb === "RCPT" && /^u[1-5]@/.test(to) ? "554 5.3.0 not today" : undefined);
    const id = await send();
    expect(await ended(id)).toMatchObject({ status: "partial", sent_count: 15, failed_count: 5 });
    answer = () => undefined;
    server.messages.length = 0;
    expect(await company.api.post(`${API}/campaigns/${id}/resume/`)).toMatchObject({
      status: 200,
      body: { status: "pending" },
    });
    expect(await ended(id)).toMatchObject({ status: "completed", sent_count: 20, failed_count: 0, error: null });
    expect(server.messages.map(({ to }) => to[0]).toSorted()).toEqual([1, 2, 3, 4, 5].map((n) => `u${n}@example.com`));
  });

  test("stops if the sender is refused, fails the rest, and gives the reason", async () => {
    await members(300);
    answer = ({ verb }) => (verb === "MAIL" ? "550 5.7.1 you may not send from here" : undefined);
    const id = await send();
    const campaign = await ended(id);
    expect(campaign).toMatchObject({ status: "failed", sent_count: 0, failed_count: 300 });
    expect(campaign.error).toMatch(/you may not send from here/);
    expect(await company.api.post(`${API}/campaigns/${id}/resume/`)).toMatchObject({ status: 400 });
  });

  test("fails with a clear error if its configuration is deleted before it is due", async () => {
    await members(3);
    const id = await send({ scheduled_for: new Date(Date.now() + 60_000).toISOString() });
    await company.api.delete(`${API}/smtp-configs/${smtp}/`);
    await query("update campaigns set scheduled_for = now() where id = $1", [id]);
    const campaign = await ended(id);
    expect(campaign).toMatchObject({
      status: "failed",
      failed_count: 3,
      error: expect.stringMatching(/SMTP configuration/i),
    });
  });

  test("does not resume through a configuration that was deleted after it", async () => {
    await members(5);
    answer = ({ verb, to }) => (verb === "RCPT" && to === "u1@example.com" ? "554 5.3.0 not today" : undefined);
    const id = await send();
    expect(await ended(id)).toMatchObject({ status: "partial", sent_count: 4 });
    answer = () => undefined;
    server.messages.length = 0;
    await company.api.delete(`${API}/smtp-configs/${smtp}/`);
    await company.api.post(`${API}/campaigns/${id}/resume/`);
    expect(await ended(id)).toMatchObject({
      status: "failed",
      sent_count: 4,
      failed_count: 1,
      error: "The SMTP configuration was deleted.",
    });
    expect(server.messages).toEqual([]);
  });

  test("has the same Message-ID in the mail, the list of mails and the webhook if the sender's domain is Unicode", async () => {
    await members(1);
    await company.api.patch(`${API}/smtp-configs/${smtp}/`, { sender_email: "News@BÜCHER.example" });
    await company.api.post(`${API}/webhook-endpoints/`, { url: "http://127.0.0.1:9/", events: ["delivered"] });
    await ended(await send());
    const [mail] = (await company.api.get(`${API}/sent-emails/`)).body.results;
    // The Message-ID must not reveal the id, which opens public pages.
    expect(mail.message_id).toMatch(/^<[\w-]{22}@xn--bcher-kva\.example>$/);
    expect(server.messages[0]).toMatchObject({ messageId: mail.message_id, from: "News@xn--bcher-kva.example" });
    const [delivery] = await query<{ payload: { metadata: object } }>(
      "select payload from webhook_deliveries where company_id = $1",
      [company.id],
    );
    expect(delivery!.payload.metadata).toMatchObject({ message_id: mail.message_id });
  });

  test("keeps its attachment even if the file is deleted after the request", async () => {
    await members(1);
    const form = new FormData();
    form.set("file", new Blob(["the terms"]), "terms.txt");
    const media = (await company.api.post(`${API}/media/`, form)).body;
    const id = await send({ attachment_ids: [media.id], scheduled_for: new Date(Date.now() + 60_000).toISOString() });
    expect((await company.api.delete(`${API}/media/${media.id}/`)).status).toBe(204);
    await query("update campaigns set scheduled_for = now() where id = $1", [id]);
    expect(await ended(id)).toMatchObject({ status: "completed", sent_count: 1 });
    expect(server.messages[0]!.raw).toContain(Buffer.from("the terms").toString("base64"));
    expect(server.messages[0]!.raw).toContain("terms.txt");
  });

  test("for a double opt-in has an unchanged link and no footer", async () => {
    await company.api.patch(`/api/companies/${company.id}/`, { double_opt_in: true });
    expect(
      (
        await company.api.post(`${API}/public/subscribe/${company.id}/`, {
          email: "new@example.com",
          first_name: "Nora",
        })
      ).status,
    ).toBe(201);
    await until(
      async () => server.messages.length,
      (n) => n === 1,
    );
    const [mail] = server.messages;
    expect(mail!.to).toEqual(["new@example.com"]);
    const text = mail!.raw.replaceAll("=\r\n", "").replaceAll("=3D", "=");
    expect(text).toMatch(/Hello Nora/);
    expect(text).toMatch(/\/api\/emails\/public\/confirm\/[^"\s]+\//);
    expect(text).not.toMatch(/public\/(click|open)\//);
    expect((await company.api.get(`${API}/campaigns/`)).body).toMatchObject({ count: 0 });
  });

  test.each(["en", "de", "fr", "es", "ar"])(
    "a double opt-in mail is in the language of the form: %s",
    async (language) => {
      await company.api.patch(`/api/companies/${company.id}/`, { double_opt_in: true });
      const person = { email: "neu@example.com", first_name: "Ana" };
      const headers = { "accept-language": `${language}-XX,xx;q=0.5` };
      await company.api.post(`${API}/public/subscribe/${company.id}/`, person, { headers, ip: someIp() });
      await until(
        async () => server.messages.length,
        (n) => n === 1,
      );
      const { html, subject } = await simpleParser(server.messages[0]!.raw);
      const t = catalogues[language]!;
      const name = (await company.api.get(`/api/companies/${company.id}/`)).body.name;
      expect(subject).toBe(t.confirmationMail.subject.replace("{company}", name));
      expect(html).toContain(`<html lang="${language}" dir="${t.dir}">`);
      expect(html).toContain(`<p>${t.confirmationMail.hello.replace("{name}", " Ana")}</p>`);
      expect(html).toContain(`>${t.confirmationMail.button}</a>`);
      expect(html).not.toContain("{");
    },
  );

  test("for a double opt-in has the company's branding, and its language if the form's is unknown", async () => {
    const branding = {
      name: "Lantern <b>& Söhne",
      logo_url: "https://cdn.example/l.png?a=1&b=2",
      color: "#7a1f3d",
      background: "#fffaf0",
      footer_text: "Harbour Street 1\nSpringfield [[email]] <img src=x>",
      language: "es",
    };
    const changed = await company.api.patch(`/api/companies/${company.id}/`, { double_opt_in: true, branding });
    expect(changed).toMatchObject({ status: 200, body: { branding } });
    const headers = { "accept-language": "ja" };
    await company.api.post(
      `${API}/public/subscribe/${company.id}/`,
      { email: "b@example.com" },
      { headers, ip: someIp() },
    );
    await until(
      async () => server.messages.length,
      (n) => n === 1,
    );
    const { html, text, subject } = await simpleParser(server.messages[0]!.raw);
    expect(subject).toBe(catalogues.es!.confirmationMail.subject.replace("{company}", branding.name));
    expect(html).toContain('<html lang="es" dir="ltr">');
    expect(html).toContain("color:#fffaf0;background:#7a1f3d");
    expect(html).toMatch(/<img src="https:\/\/cdn\.example\/l\.png\?a=1&amp;b=2" alt="Lantern &lt;b&gt;&amp; Söhne"/);
    expect(html).toContain("Harbour Street 1<br>Springfield [[email]] &lt;img src=x&gt;<br>");
    expect(text).toContain("Harbour Street 1\nSpringfield [[email]]");
  });
});
