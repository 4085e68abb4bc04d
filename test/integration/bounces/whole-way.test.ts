/** A campaign's bounces and complaints, what the company sees of them, and their effect on the next campaign. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { query } from "../../../models/database/db.ts";
import { tokenOf } from "../../../services/lib/tokens/bounce-token.ts";
import { type App, startApp } from "../../support/app.ts";
import { bounceMessage, complaintMessage } from "../../support/bounce-message.ts";
import { type Answer, client, newCompany, someIp, type TestCompany } from "../../support/client.ts";
import { SmtpDialogue } from "../../support/smtp-dialogue.ts";
import { type Accepted, type SmtpServer, startSmtpServer } from "../../support/smtp-server.ts";

const E = "/api/emails";
const BOUNCES = "bounces@b.example";

interface HookEvent {
  type: string;
  recipient: string | null;
  campaign_id: string;
  sent_email_id: string | null;
  metadata: Record<string, unknown>;
}

describe("bounces end to end:", () => {
  let app: App;
  let smtp: SmtpServer;
  let company: TestCompany;
  let listener: SmtpDialogue;
  let relay: string;
  const received: HookEvent[] = [];
  const hooks = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk) => (body += chunk));
    request.on("end", () => {
      received.push(JSON.parse(body));
      response.end();
    });
  });

  beforeAll(async () => {
    smtp = await startSmtpServer();
    await new Promise<void>((resolve) => hooks.listen(0, "127.0.0.1", resolve));
    app = await startApp({ env: { INBOUND_PORT: "0", HOST: "127.0.0.1", RETRY_BASE_SECONDS: "1" } });
    const { port } = (app.broker.getLocalService("bounces") as unknown as { listener: { port: number } }).listener;
    listener = await SmtpDialogue.greeted(port);
    company = await newCompany(app);
    relay = (
      await make("smtp-configs", {
        name: "Relay",
        host: "127.0.0.1",
        port: smtp.port,
        username: "",
        password: "",
        use_tls: false,
        sender_email: "news@acme.example",
        bounce_address: BOUNCES,
      })
    ).id;
    const { port: hookPort } = hooks.address() as AddressInfo;
    const events = ["delivered", "bounced", "complained", "failed", "campaign.completed"];
    await make("webhook-endpoints", { url: `http://127.0.0.1:${hookPort}/hook`, events });
  });
  afterAll(async () => {
    listener.close();
    await app.stop();
    await smtp.stop();
    hooks.closeAllConnections();
    hooks.close();
  });

  async function make(path: string, body: object) {
    const made = await company.api.post(`${E}/${path}/`, body);
    if (made.status >= 300) throw new Error(`${path} answered ${made.status}: ${made.text}`);
    return made.body;
  }
  const get = async (path: string, query: Record<string, string> = {}): Promise<Answer["body"]> => {
    const answer = await company.api.get(`${E}/${path}`, { query });
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${answer.text}`);
    return answer.body;
  };

  async function until<T>(what: () => T | Promise<T>, isSo: (seen: T) => boolean): Promise<T> {
    for (let tries = 0; tries < 1_500; tries++) {
      const seen = await what();
      if (isSo(seen)) return seen;
      await sleep(20);
    }
    throw new Error(`It did not happen: ${JSON.stringify(await what()).slice(0, 2_000)}`);
  }

  const content = { subject: "News", body: '<p>Hello <a href="https://example.com/">look</a></p>' };
  let campaigns = 0;
  async function send(receivers: object[], ends = "completed"): Promise<string> {
    const name = `C${++campaigns}`;
    const { id } = await make("send/custom", { name, smtp_config_id: relay, ...content, receivers });
    await until(
      () => get(`campaigns/${id}/`),
      ({ status }) => status === ends,
    );
    return id;
  }
  const mailTo = (recipient: string): Accepted => smtp.messages.findLast(({ to }) => to.includes(recipient))!;
  const statuses = async (campaign: string) =>
    Object.fromEntries(
      (await get("sent-emails/", { campaign })).results.map((mail: Record<string, string>) => [
        mail.recipient,
        mail.status,
      ]),
    );

  test("bounces and complaints suppress addresses, the next campaign skips them, and every view shows it", async () => {
    const [hard, complains, full, fine] = ["hard", "complains", "full", "fine"].map((name) => `${name}@to.example`);
    const list = (await make("lists", { name: "Readers" })).id;
    for (const email of [hard, complains, full, fine]) await make("subscribers", { email, lists: [list] });
    const template = (await make("templates", { name: "T", ...content })).id;
    const toList = async (name: string) => {
      const { id } = await make("send/to-list", { name, template_id: template, smtp_config_id: relay, list_id: list });
      return until(
        () => get(`campaigns/${id}/`),
        ({ status }) => status === "completed",
      );
    };
    const campaign = await toList("First");
    expect(smtp.messages).toHaveLength(4);
    const senders = smtp.messages.map(({ from }) => tokenOf(from)!);
    expect(new Set(senders.map(({ token }) => token)).size).toBe(4);
    expect(new Set(senders.map(({ bounceAddress }) => bounceAddress))).toEqual(new Set([BOUNCES]));

    expect(await listener.send([mailTo(hard!).from], bounceMessage({ recipient: hard! }))).toMatch(/^250/);
    const isFull = { recipient: full!, status: "5.2.2", diagnostic: "552 5.2.2 Mailbox full" };
    expect(await listener.send([mailTo(full!).from], bounceMessage(isFull))).toMatch(/^250/);
    const messageId = /^Message-ID: <(.*)>/m.exec(mailTo(complains!).raw)![1]!;
    expect(await listener.send([BOUNCES], complaintMessage({ recipient: complains!, messageId }))).toMatch(/^250/);

    expect(await statuses(campaign.id)).toEqual({
      [hard!]: "bounced",
      [complains!]: "sent",
      [full!]: "bounced",
      [fine!]: "sent",
    });
    // Sums over days, because the test may run at midnight.
    const { sending, growth, subscribers } = await get("stats/");
    const over = (days: Record<string, number>[], field: string) => days.reduce((sum, day) => sum + day[field]!, 0);
    const sums = ["sent", "delivered", "bounced", "complained"].map((field) => over(sending, field));
    expect(sums).toEqual([4, 2, 2, 1]);
    expect(["subscribed", "unsubscribed", "bounced"].map((field) => over(growth, field))).toEqual([4, 1, 1]);
    expect(subscribers).toMatchObject({ total: 4, active: 2, bounced: 1, complained: 1 });
    expect(await get(`campaigns/${campaign.id}/analytics/`)).toMatchObject({
      sent: 4,
      failed: 0,
      delivered: 2,
      bounced: 2,
      bounces: { hard: 1, soft: 1, block: 0 },
      complaints: 1,
      rates: { bounce: 0.5 },
    });
    expect((await get("sent-emails/", { status: "bounced" })).count).toBe(2);
    expect((await get("sent-emails/", { status: "sent" })).count).toBe(2);
    expect((await get("sent-emails/", { status: "sent", campaign: campaign.id })).results).toHaveLength(2);
    const blocked = (await get("suppressions/")).results.map(({ email, kind }: Record<string, string>) => [
      email,
      kind,
    ]);
    expect(Object.fromEntries(blocked)).toEqual({ [hard!]: "bounced", [complains!]: "complained" });
    const people = (await get("subscribers/")).results.map((one: Record<string, string>) => [one.email, one.status]);
    expect(Object.fromEntries(people)).toEqual({
      [hard!]: "bounced",
      [complains!]: "complained",
      [full!]: "active",
      [fine!]: "active",
    });
    const exported = await company.api.get(`${E}/campaigns/${campaign.id}/export/`);
    expect(exported.text).toContain(`${hard},bounced`);
    const came = (await get("inbound/")).results;
    expect(came.map((row: Record<string, string>) => [row.recipient, row.result, row.bounce_type])).toEqual([
      [complains, "complained", null],
      [full, "bounced", "soft"],
      [hard, "bounced", "hard"],
    ]);
    expect((await company.api.get(came[2].raw_url)).text).toContain("Final-Recipient: rfc822; hard@to.example");
    expect((await get("events/", { type: "complained" })).results).toHaveLength(1);

    for (const [field, operator, value, n] of [
      ["complained", "equals", true, 1],
      ["complained", "not_equals", true, 3],
      ["last_bounced_at", "in_last_days", 1, 2],
    ]) {
      const rules = { match: "all", conditions: [{ field, operator, value }] };
      const { id } = await make("segments", { name: `${field} ${operator}`, rules });
      expect((await get(`segments/${id}/subscribers/`)).count).toBe(n);
    }

    await until(
      () => received.filter(({ type }) => type !== "delivered"),
      (seen) => seen.length === 4,
    );
    expect(received.filter(({ type }) => type === "campaign.completed")).toEqual([
      expect.objectContaining({
        campaign_id: campaign.id,
        recipient: null,
        sent_email_id: null,
        metadata: { name: "First", status: "completed", total_emails: 4, sent_count: 4, failed_count: 0 },
      }),
    ]);
    expect(received.filter(({ type }) => type === "delivered")).toHaveLength(4);
    expect(received.find(({ recipient, type }) => recipient === hard && type === "bounced")).toMatchObject({
      campaign_id: campaign.id,
      metadata: { bounce_type: "hard", source: "dsn", enhanced_code: "5.1.1" },
    });
    expect(received.find(({ type }) => type === "complained")).toMatchObject({ recipient: complains });

    const history = await app.broker.call<{ what: string }[], object>("operator.why", { recipient: hard });
    expect(history.map(({ what }) => what)).toEqual(expect.arrayContaining(["bounced", "inbound message (bounced)"]));

    smtp.messages.length = 0;
    await toList("Second");
    expect(smtp.messages.flatMap(({ to }) => to).sort()).toEqual([fine, full]);
  });

  test("a refusal at SMTP time is reported as failed, with its source", async () => {
    smtp.options.answer = ({ verb, to }) => (verb === "RCPT" && to === "no@to.example" ? "550 5.7.1 No" : undefined);
    const id = await send([{ email: "no@to.example" }, { email: "yes@to.example" }], "partial");
    smtp.options.answer = undefined;
    const seen = await until(
      () => received.filter(({ campaign_id, type }) => campaign_id === id && ["bounced", "failed"].includes(type)),
      (all) => all.length === 2,
    );
    expect(seen.find(({ type }) => type === "bounced")!.metadata).toMatchObject({
      bounce_type: "block",
      source: "smtp",
    });
    expect(seen.find(({ type }) => type === "failed")!.metadata).toMatchObject({ error: "Refused: 550 5.7.1 No" });
    expect(await get(`campaigns/${id}/analytics/`)).toMatchObject({ delivered: 1, bounces: { block: 1 } });
  });

  test("recipients that a stopped campaign never attempted are reported as failed", async () => {
    smtp.options.answer = ({ verb }) => (verb === "MAIL" ? "550 5.7.1 Sender refused" : undefined);
    const receivers = ["s1", "s2", "s3"].map((name) => ({ email: `${name}@to.example` }));
    const id = await send(receivers, "failed");
    smtp.options.answer = undefined;
    const seen = await until(
      () => received.filter(({ campaign_id, type }) => campaign_id === id && type !== "campaign.completed"),
      (all) => all.length === 3,
    );
    const mails = (await get("sent-emails/", { campaign: id })).results as Record<string, string>[];
    for (const { type, recipient, metadata, sent_email_id } of seen) {
      const mail = mails.find((one) => one.recipient === recipient)!;
      expect({ type, sent_email_id }).toEqual({ type: "failed", sent_email_id: mail.id });
      expect(metadata).toEqual({ error: mail.error, message_id: mail.message_id, smtp_response: null });
    }
  });

  test("a copy that bounces changes only its own row; one that complains is suppressed", async () => {
    const id = await send([{ email: "own@to.example", cc: ["cc1@to.example"], bcc: ["bcc1@to.example"] }]);
    const copies = await until(
      () => mailTo("cc1@to.example"),
      (mail) => mail !== undefined,
    );
    expect(copies.from).not.toBe(mailTo("own@to.example").from);
    expect(await listener.send([copies.from], bounceMessage({ recipient: "cc1@to.example" }))).toMatch(/^250/);
    expect(await listener.send([copies.from], complaintMessage({ recipient: "bcc1@to.example" }))).toMatch(/^250/);
    const [mail] = (await get("sent-emails/", { campaign: id })).results;
    expect(mail.status).toBe("sent");
    expect(mail.copies.map((copy: Record<string, string>) => [copy.email, copy.status])).toEqual([
      ["cc1@to.example", "bounced"],
      ["bcc1@to.example", "sent"],
    ]);
    const blocked = (await get("suppressions/", { search: "1@to.example" })).results;
    expect(blocked.map(({ email }: Record<string, string>) => email)).toEqual(["bcc1@to.example"]);
    expect(await get(`campaigns/${id}/analytics/`)).toMatchObject({ delivered: 1, bounced: 0, complaints: 1 });
  });

  test("the API accepts reports by id, Message-ID and address, returns their results, and applies them once", async () => {
    const id = await send([{ email: "a@to.example" }, { email: "b@to.example" }, { email: "c@to.example" }]);
    const mails = (await get("sent-emails/", { campaign: id })).results as Record<string, string>[];
    const of = (recipient: string) => mails.find((mail) => mail.recipient === recipient)!;
    const report = (body: object) => company.api.post(`${E}/bounces/`, body);
    const first = { sent_email_id: of("a@to.example").id, type: "soft", diagnostic: "552 5.2.2 Full" };
    for (const body of [first, first]) {
      const { status, body: answer } = await report(body);
      expect({ status, answer }).toMatchObject({
        status: 202,
        answer: { result: "bounced", bounce_type: "soft", recipient: "a@to.example", via: "api", raw_url: null },
      });
    }
    expect((await report({ message_id: of("b@to.example").message_id, type: "block" })).body.result).toBe("bounced");
    expect((await report({ email: "C@to.example", type: "complaint" })).body.result).toBe("complained");
    expect((await report({ email: "stranger@to.example", type: "hard" })).body.result).toBe("unmatched");
    expect(await get(`campaigns/${id}/analytics/`)).toMatchObject({
      bounces: { hard: 0, soft: 1, block: 1 },
      complaints: 1,
    });
    const metadata = (await get("events/", { campaign: id, type: "bounced" })).results[1].metadata;
    expect(metadata).toMatchObject({ source: "api", enhanced_code: "5.2.2", diagnostic: "552 5.2.2 Full" });
    for (const wrong of [{ type: "hard" }, { ...first, email: "a@to.example" }]) {
      expect(await report(wrong)).toMatchObject({ status: 400, body: { non_field_errors: [expect.any(String)] } });
    }
    expect((await report({ email: "a@to.example", type: "strange" })).status).toBe(400);
    const other = await newCompany(app);
    const foreign = await other.api.post(`${E}/bounces/`, first);
    expect(foreign).toMatchObject({ status: 202, body: { result: "unmatched", sent_email_id: null } });
  });

  /** Sends a campaign whose server accepted every message but answered none. */
  async function sendInDoubt(names: readonly string[]): Promise<string> {
    smtp.options.answer = ({ verb }) => (verb === "DOT" ? { drop: true, accept: true } : undefined);
    const list = (await make("lists", { name: names[0] })).id;
    for (const email of names) await make("subscribers", { email, lists: [list] });
    const template = (await make("templates", { name: names[0], ...content })).id;
    const newsletter = { name: names[0], template_id: template, smtp_config_id: relay, list_id: list };
    const { id } = await make("send/to-list", newsletter);
    await until(
      () => get(`campaigns/${id}/`),
      ({ status }) => status === "failed",
    );
    smtp.options.answer = undefined;
    expect(Object.values(await statuses(id))).toEqual(names.map(() => "unknown"));
    return id;
  }
  /** Returns a path in a message's text. */
  function pathIn(recipient: string, pattern: RegExp): string {
    const text = mailTo(recipient).raw.replaceAll(/=\r\n/g, "").replaceAll("=3D", "=");
    return pattern.exec(text)![0];
  }
  const PIXEL = /\/api\/emails\/public\/open\/[\w-]+\.gif/;
  const withAgent = (agent: string) => client(app, { ip: someIp(), headers: { "User-Agent": agent } });
  const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64) Firefox/131.0";
  const sentTimes = async (id: string) => {
    const rows = await query<{ sent_at: Date | null }>(
      "select sent_at from sent_emails where campaign_no = (select no from campaigns where id = $1)",
      [id],
    );
    return rows.map(({ sent_at }) => sent_at);
  };

  test("a message in doubt that is opened, clicked or unsubscribed from was sent: counts follow, and resume skips it", async () => {
    const names = ["opens", "clicks", "leaves"].map((name) => `${name}@to.example`);
    const id = await sendInDoubt(names);
    const campaign = () => get(`campaigns/${id}/`);
    const anyone = withAgent(FIREFOX);
    await anyone.get(pathIn(names[0]!, PIXEL));
    expect(await statuses(id)).toMatchObject({ "opens@to.example": "sent", "clicks@to.example": "unknown" });
    expect(await campaign()).toMatchObject({ status: "partial", sent_count: 1, failed_count: 2 });
    await anyone.get(pathIn(names[1]!, /\/api\/emails\/public\/click\/[\w-]+\//));
    const unsubscribe = pathIn(names[2]!, /\/api\/emails\/public\/unsubscribe\/[\w-]+\//);
    await anyone.post(unsubscribe, new URLSearchParams({ "List-Unsubscribe": "One-Click" }));
    await anyone.get(pathIn(names[0]!, PIXEL));

    expect(new Set(Object.values(await statuses(id)))).toEqual(new Set(["sent"]));
    expect(await campaign()).toMatchObject({ status: "completed", sent_count: 3, failed_count: 0 });
    expect((await company.api.post(`${E}/campaigns/${id}/resume/`)).status).toBe(400);
    expect(await sentTimes(id)).toEqual(Array(3).fill(expect.any(Date)));
    expect(await get(`campaigns/${id}/analytics/`)).toMatchObject({
      delivered: 3,
      opens: { unique: expect.any(Number) },
    });
    const seen = await until(
      () => received.filter(({ campaign_id, type }) => campaign_id === id && type === "delivered"),
      (all) => all.length === 3,
    );
    expect(seen).toHaveLength(3);
  });

  test("a complaint or a machine's open settles a message in doubt; resume sends only the rest", async () => {
    const [objects, fetched, silent] = ["objects", "fetched", "silent"].map((name) => `${name}@to.example`);
    const id = await sendInDoubt([objects!, fetched!, silent!]);
    const campaign = () => get(`campaigns/${id}/`);
    const complaint = () => listener.send([mailTo(objects!).from], complaintMessage({ recipient: objects! }));
    expect(await complaint()).toMatch(/^250/);
    expect(await statuses(id)).toEqual({ [objects!]: "sent", [fetched!]: "unknown", [silent!]: "unknown" });
    expect(await campaign()).toMatchObject({ status: "partial", sent_count: 1, failed_count: 2 });

    // Apple's privacy proxy loads the images of every message.
    const open = (agent: string) => withAgent(agent).get(pathIn(fetched!, PIXEL));
    await open("Mozilla/5.0");
    expect(await statuses(id)).toEqual({ [objects!]: "sent", [fetched!]: "sent", [silent!]: "unknown" });
    // Repeated complaints have no further effect.
    expect(await complaint()).toMatch(/^250/);
    await open("Mozilla/5.0");
    expect(await campaign()).toMatchObject({ status: "partial", sent_count: 2, failed_count: 1 });
    expect((await sentTimes(id)).filter((time) => time !== null)).toEqual(Array(2).fill(expect.any(Date)));
    const analytics = () => get(`campaigns/${id}/analytics/`);
    expect(await analytics()).toMatchObject({
      delivered: 2,
      complaints: 1,
      opens: { total: 0, unique: 0, machine: 2 },
    });
    expect((await get("subscribers/", { search: objects! })).results).toEqual([
      expect.objectContaining({ status: "complained" }),
    ]);

    smtp.messages.length = 0;
    expect((await company.api.post(`${E}/campaigns/${id}/resume/`)).status).toBe(200);
    await until(campaign, ({ status }) => status === "completed");
    expect(smtp.messages.map(({ to }) => to)).toEqual([[silent]]);
    expect(await campaign()).toMatchObject({ sent_count: 3, failed_count: 0 });
    expect((await company.api.post(`${E}/campaigns/${id}/resume/`)).status).toBe(400);
    const delivered = await until(
      () => received.filter(({ campaign_id, type }) => campaign_id === id && type === "delivered"),
      (all) => all.length >= 3,
    );
    expect(delivered.map(({ recipient }) => recipient).sort()).toEqual([fetched, objects, silent]);
  });

  /** Runs `work` for a new company with its own server, suppressions and subscribers. */
  async function inNewCompany(work: () => Promise<void>): Promise<void> {
    const outer = { company, relay };
    company = await newCompany(app);
    const server = { name: "Relay", host: "127.0.0.1", port: smtp.port, username: "", password: "", use_tls: false };
    const addresses = { sender_email: "news@acme.example", bounce_address: "bounces@first.example" };
    relay = (await make("smtp-configs", { ...server, ...addresses })).id;
    await work().finally(() => ({ company, relay } = outer));
  }
  const sendFirst = async (emails: string[]) => {
    const body = '<p><a href="[[preferences_url]]">Preferences</a> <a href="[[unsubscribe_url]]">Unsubscribe</a></p>';
    const receivers = emails.map((email) => ({ email }));
    await make("send/custom", { name: "First", smtp_config_id: relay, subject: "Hi", body, receivers });
    await until(
      () => emails.map(mailTo),
      (mails) => mails.every((mail) => mail !== undefined),
    );
  };
  const linkTo = (page: string, recipient: string) => {
    const html = mailTo(recipient).raw.replace(/=\r\n/g, "").replaceAll("=3D", "=");
    return new RegExp(`http[^"\\s]*/public/${page}/[^"\\s]+(?=")`).exec(html)![0];
  };
  const person = async (email: string) => (await get("subscribers/", { search: email })).results[0];

  test("the first message to a new receiver has a subscriber's links, and unsubscribes and bounces find the receiver", () =>
    inNewCompany(async () => {
      const [leaves, bounces] = ["first1@to.example", "first2@to.example"] as const;
      await sendFirst([leaves, bounces]);
      const browser = client(app, { ip: someIp() });
      const preferences = await browser.get(linkTo("preferences", leaves), { headers: { accept: "text/html" } });
      expect(preferences.status).toBe(200);
      expect(preferences.text).toContain(leaves);

      expect((await browser.post(linkTo("unsubscribe", leaves))).status).toBe(200);
      expect(await person(leaves)).toMatchObject({ status: "unsubscribed" });
      expect((await browser.post(`${E}/public/subscribe/${company.id}/`, { email: leaves })).status).toBe(201);
      expect(await person(leaves)).toMatchObject({ status: "unsubscribed" });

      expect(await listener.send([mailTo(bounces).from], bounceMessage({ recipient: bounces }))).toMatch(/^250/);
      expect(await person(bounces)).toMatchObject({ status: "bounced" });
    }));

  test("a receiver beyond the plan's limit gets the message, and stays unsubscribed until a confirmation", () =>
    inNewCompany(async () => {
      const email = "noroom@to.example";
      await query("insert into plans (name, subscribers) values ('of none', 0)");
      await query("update companies set plan = 'of none' where id = $1", [company.id]);
      await sendFirst([email]);
      const browser = client(app, { ip: someIp() });
      expect((await browser.post(linkTo("unsubscribe", email))).status).toBe(200);
      await query("update companies set plan = 'unlimited' where id = $1", [company.id]);
      await until(
        () => browser.post(`${E}/public/subscribe/${company.id}/`, { email }),
        ({ status }) => status === 201,
      );
      expect(await person(email)).toMatchObject({ status: "unsubscribed" });
    }));
});
