import { createHmac, generateKeyPairSync, randomBytes, sign } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { query, queryOne } from "../../../models/database/db.ts";
import { addReport } from "../../../services/bounces/provider-report-queue.ts";
import { amazon } from "../../../services/bounces/receive-provider-report.ts";
import { type App, startApp } from "../../support/app.ts";
import { selfMadeCertificate } from "../../support/certificate.ts";
import { type Client, client, newCompany, type TestCompany } from "../../support/client.ts";
import { newWorld } from "../tracking/world.ts";

const SOURCES = "/api/emails/inbound-sources/";

describe("inbound sources", () => {
  let app: App;
  let company: TestCompany;
  let provider: Client;
  beforeAll(async () => {
    app = await startApp({ services: ["gateway", "accounts", "bounces"] });
    company = await newCompany(app);
    provider = client(app);
  });
  afterEach(() => jest.restoreAllMocks());
  afterAll(() => app.stop());

  interface Source {
    id: string;
    url: string;
  }
  async function newSource(name: string, secret?: string, of = company): Promise<Source> {
    const { status, body } = await of.api.post(SOURCES, { provider: name, ...(secret ? { secret } : {}) });
    expect([status, Object.keys(body).sort()]).toEqual([201, ["created_at", "id", "provider", "url"]]);
    return body;
  }
  const newMails = async (n = 1) => (await newWorld(n, company)).mails;
  const rows = (recipients: string[]) =>
    query<{ recipient: string; result: string; via: string; bounce_type: string | null; sent_email_id: string | null }>(
      `select recipient, result, via, bounce_type, sent_email_id from inbound_messages
       where company_id = $1 and recipient = any($2) order by id`,
      [company.id, recipients],
    );
  const eventsOf = (mails: { id: string }[]) =>
    query<{ type: string; recipient: string; source: string }>(
      "select type, recipient, metadata->>'source' as source from email_events where sent_email_id = any($1) order by id",
      [mails.map(({ id }) => id)],
    );
  const waiting = async () => (await queryOne<{ n: number }>("select count(*) as n from inbound_reports"))!.n;
  const hardBounce = (Email: string) => ({ RecordType: "Bounce", Type: "HardBounce", ID: Email, Email });

  test("the address can be read again, the secret never; after deletion the address is 404", async () => {
    const { id, url } = await newSource("postmark", "very secret");
    expect(url).toMatch(/^http:\/\/[^/]+\/api\/emails\/inbound\/postmark\/[A-Za-z0-9_-]{43}\/$/);
    const listed = await company.api.get(SOURCES);
    expect(listed.body).toMatchObject({ count: 1, results: [{ id, url, provider: "postmark" }] });
    expect(listed.text).not.toContain("secret");
    const stored = (await queryOne("select * from inbound_sources where id = $1", [id]))!;
    expect(JSON.stringify(stored)).not.toContain("very secret");
    expect((await company.api.delete(`${SOURCES}${id}/`)).status).toBe(204);
    expect((await provider.post(url, {})).status).toBe(404);
    expect((await company.api.delete(`${SOURCES}${id}/`)).status).toBe(404);
  });

  test.each([
    [{}, "provider"],
    [{ provider: "mailchimp" }, "provider"],
    [{ provider: "mailgun" }, "secret"],
    [{ provider: "sendgrid" }, "secret"],
    [{ provider: "sendgrid", secret: "no key" }, "secret"],
    [{ provider: "ses", secret: "Amazon has none" }, "secret"],
    [{ provider: "brevo", secret: " " }, "secret"],
    [{ provider: "brevo", smtp_config_id: "0190a0a0-0000-7000-8000-00000000000d" }, "smtp_config_id"],
  ])("%j is 400 on %s", async (body, field) => {
    const answer = await company.api.post(SOURCES, body);
    expect([answer.status, Object.keys(answer.body)]).toEqual([400, [field]]);
  });

  test("another provider's or an invented address is 404, and another method 405", async () => {
    const { url } = await newSource("postmark");
    for (const other of [
      url.replace("postmark", "brevo"),
      url.replace("postmark", "nobody"),
      url.replace(/.{43}\/$/, `${randomBytes(32).toString("base64url")}/`),
      url.replace(/.{43}\/$/, "short/"),
    ]) {
      expect((await provider.post(other, hardBounce("a@b.example"))).status).toBe(404);
    }
    expect((await provider.get(url)).status).toBe(405);
  });

  test("a bounce by Postmark suppresses; the same report again changes and lists nothing more", async () => {
    const { url } = await newSource("postmark");
    const [mail] = await newMails();
    const report = { ...hardBounce(mail!.email), Details: "smtp;550 5.1.1 unknown" };
    for (let times = 0; times < 3; times++) {
      const answer = await provider.post(url, report);
      expect([answer.status, answer.body]).toEqual([200, { accepted: 1 }]);
    }
    expect(await rows([mail!.email])).toEqual([
      { recipient: mail!.email, result: "bounced", via: "postmark", bounce_type: "hard", sent_email_id: mail!.id },
    ]);
    expect(await eventsOf([mail!])).toEqual([{ type: "bounced", recipient: mail!.email, source: "provider" }]);
    const suppressed = await query("select kind from suppressions where company_id = $1 and email = $2", [
      company.id,
      mail!.email,
    ]);
    expect(suppressed).toEqual([{ kind: "bounced" }]);
    expect(await waiting()).toBe(0);
    const { body } = await company.api.get("/api/emails/inbound/", { query: { recipient: mail!.email } });
    const raw = await company.api.get(body.results[0].raw_url);
    expect(raw.headers.get("content-disposition")).toMatch(/\.json"$/);
    expect(JSON.parse(raw.text)).toEqual(report);
  });

  test("a secret is accepted as a password or a bearer token; without it nothing changes", async () => {
    const { url } = await newSource("brevo", "s3cret");
    const [mail] = await newMails();
    const report = { event: "spam", email: mail!.email };
    const basic = (pair: string) => `Basic ${Buffer.from(pair).toString("base64")}`;
    for (const Authorization of [undefined, "Bearer wrong", basic("me:wrong"), "s3cret"]) {
      const answer = await provider.post(url, report, { headers: Authorization ? { Authorization } : {} });
      expect([answer.status, Object.keys(answer.body)]).toEqual([401, ["detail"]]);
    }
    expect(await rows([mail!.email])).toEqual([]);
    expect((await provider.post(url, report, { headers: { Authorization: basic("me:s3cret") } })).status).toBe(200);
    expect(await eventsOf([mail!])).toEqual([{ type: "complained", recipient: mail!.email, source: "provider" }]);
  });

  test("SendGrid's signature covers the exact bytes; valid events of a batch count even if others are invalid", async () => {
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const { url } = await newSource("sendgrid", publicKey.export({ type: "spki", format: "der" }).toString("base64"));
    const mails = await newMails(2);
    const [one, two] = mails.map(({ email }) => email) as [string, string];
    const batch = `[ {"event":"bounce","type":"bounce","email":"${one}","note":"zo\u00eb"}, 7, {"event":"bounce","email":{}},
      {"event":"spamreport","email":"${two}"}, {"event":"bounce","type":"blocked","email":"stranger@nowhere.example"} ]\n`;
    const time = String(Math.floor(Date.now() / 1_000));
    const signed = (text: string) => ({
      "X-Twilio-Email-Event-Webhook-Signature": sign("sha256", Buffer.from(time + text), privateKey).toString("base64"),
      "X-Twilio-Email-Event-Webhook-Timestamp": time,
    });
    expect((await provider.post(url, batch, { headers: signed(batch.trim()) })).status).toBe(401);
    expect(await rows([one, two])).toEqual([]);
    const answer = await provider.post(url, batch, { headers: signed(batch) });
    expect([answer.status, answer.body]).toEqual([200, { accepted: 3 }]);
    const results = (await rows([one, two, "stranger@nowhere.example"])).map((row) => `${row.recipient} ${row.result}`);
    expect(results.sort()).toEqual(
      [`${one} bounced`, `${two} complained`, "stranger@nowhere.example unmatched"].sort(),
    );
    expect((await provider.post(url, "no JSON", { headers: signed("no JSON") })).status).toBe(400);
  });

  test("Mailgun's token is valid for one body: repeating it is fine, another body is refused", async () => {
    const { url } = await newSource("mailgun", "signing-key");
    const [mail, other] = await newMails(2);
    const timestamp = String(Math.floor(Date.now() / 1_000));
    const token = randomBytes(25).toString("hex");
    const signature = createHmac("sha256", "signing-key")
      .update(timestamp + token)
      .digest("hex");
    const failed = (recipient: string) => ({
      signature: { timestamp, token, signature },
      "event-data": {
        event: "failed",
        severity: "permanent",
        reason: "bounce",
        recipient,
        "delivery-status": { code: 550 },
      },
    });
    for (const status of [200, 200]) expect((await provider.post(url, failed(mail!.email))).status).toBe(status);
    expect((await provider.post(url, failed(other!.email))).status).toBe(401);
    const forged = { ...failed(other!.email), signature: { timestamp, token: "other", signature } };
    expect((await provider.post(url, forged)).status).toBe(401);
    expect(await eventsOf([mail!, other!])).toEqual([{ type: "bounced", recipient: mail!.email, source: "provider" }]);
  });

  describe("Amazon", () => {
    const HOST = "https://sns.eu-west-1.amazonaws.com";
    const TOPIC = "arn:aws:sns:eu-west-1:123456789012:bounces";
    const { cert, key } = selfMadeCertificate({ names: ["sns.amazonaws.com"] });
    const ORDER = ["Message", "MessageId", "SubscribeURL", "Timestamp", "Token", "TopicArn", "Type"];
    let certificates = 0;

    function signed(fields: Record<string, string>): Record<string, string> {
      const all: Record<string, string> = { MessageId: "1", Timestamp: new Date().toISOString(), ...fields };
      const text = ORDER.filter((name) => name in all).map((name) => `${name}\n${all[name]}\n`);
      return {
        ...all,
        SignatureVersion: "2",
        Signature: sign("sha256", Buffer.from(text.join("")), key).toString("base64"),
        SigningCertURL: `${HOST}/SimpleNotificationService-${process.pid}x${++certificates}.pem`,
      };
    }
    const confirmation = (TopicArn = TOPIC, SubscribeURL = `${HOST}/?Action=ConfirmSubscription`) =>
      signed({ Type: "SubscriptionConfirmation", TopicArn, SubscribeURL, Token: "t", Message: "Confirm?" });
    const notification = (email: string, TopicArn = TOPIC) => {
      const bounce = {
        bounceType: "Permanent",
        bounceSubType: "General",
        bouncedRecipients: [{ emailAddress: email }],
      };
      const Message = JSON.stringify({ notificationType: "Bounce", bounce, mail: {} });
      return signed({ Type: "Notification", TopicArn, Message });
    };
    const answering = (answer: (url: URL) => string) => {
      const fetched: string[] = [];
      jest.spyOn(amazon, "get").mockImplementation(async (url) => {
        if (!url.pathname.endsWith(".pem")) fetched.push(url.href);
        return url.pathname.endsWith(".pem") ? cert : answer(url);
      });
      return fetched;
    };
    const asText = { headers: { "Content-Type": "text/plain; charset=UTF-8" } };

    test("the first subscription is confirmed; from then on only its topic is accepted", async () => {
      const { url } = await newSource("ses");
      const mails = await newMails(2);
      const [mail, other] = mails as [(typeof mails)[0], (typeof mails)[0]];
      const fetched = answering(() => "<ConfirmSubscriptionResponse/>");
      const post = async (body: object) => (await provider.post(url, JSON.stringify(body), asText)).status;
      expect(await post(notification(other.email))).toBe(401);
      expect(await post(confirmation(TOPIC, "https://evil.example/?Action=ConfirmSubscription"))).toBe(401);
      expect(await post(confirmation())).toBe(200);
      expect(fetched).toEqual([`${HOST}/?Action=ConfirmSubscription`]);
      expect(await post(confirmation(`${TOPIC}-of-somebody-else`))).toBe(401);
      expect(await post(notification(other.email, `${TOPIC}-of-somebody-else`))).toBe(401);
      expect(await post({ ...notification(mail.email), Message: notification(other.email).Message! })).toBe(401);
      expect(await post(notification(mail.email))).toBe(200);
      expect(fetched).toHaveLength(1);
      expect(await eventsOf([mail, other])).toEqual([{ type: "bounced", recipient: mail.email, source: "provider" }]);
    });

    test("while Amazon cannot be reached the answer is 503, and the next attempt confirms", async () => {
      const { url } = await newSource("ses");
      let away = true;
      answering(() => {
        if (away) throw new Error("time-out");
        return "";
      });
      const body = JSON.stringify(confirmation());
      expect((await provider.post(url, body, asText)).status).toBe(503);
      away = false;
      expect((await provider.post(url, body, asText)).status).toBe(200);
    });
  });

  test("reports of a node that died are ingested by another", async () => {
    const { id } = await newSource("postmark");
    const [mail] = await newMails();
    const report = await addReport(company.id, id, JSON.stringify(hardBounce(mail!.email)));
    await query("update inbound_reports set next_attempt_at = now() where id = $1", [report]);
    for (const deadline = Date.now() + 50_000; (await waiting()) > 0 && Date.now() < deadline; await sleep(100));
    expect(await waiting()).toBe(0);
    expect(await eventsOf([mail!])).toHaveLength(1);
  });

  test("a report that cannot be ingested at once is answered with 200 and ingested later, without duplicates", async () => {
    const { url } = await newSource("brevo");
    const mails = await newMails(3);
    const batch = mails.map(({ email }) => ({ event: "hard_bounce", email }));
    // Makes inserts fail for this company's second recipient only.
    const poisoned = mails[1]!.email;
    await query(`create function refuse_one() returns trigger language plpgsql as $$ begin
      if new.recipient = '${poisoned}' then raise 'not now' using errcode = 'check_violation'; end if; return new; end $$`);
    await query(
      "create trigger refuse_one before insert on inbound_messages for each row execute function refuse_one()",
    );
    expect((await provider.post(url, batch)).status).toBe(200);
    const results = async () => (await rows(mails.map(({ email }) => email))).map(({ recipient }) => recipient).sort();
    expect(await results()).toEqual([mails[0]!.email, mails[2]!.email].sort());
    expect(await waiting()).toBe(1);
    await query("drop trigger refuse_one on inbound_messages");
    await query("drop function refuse_one");
    await query("update inbound_reports set next_attempt_at = now()");
    await app.broker.call("bounces.retryReports");
    expect(await waiting()).toBe(0);
    expect(await results()).toEqual(mails.map(({ email }) => email).sort());
    expect(await eventsOf(mails)).toHaveLength(3);
  });

  test("a body beyond 8 MiB is 413, and the body of an unknown address is not read", async () => {
    const { url } = await newSource("sparkpost");
    const large = Buffer.alloc(9 * 1024 * 1024, " ");
    expect((await provider.post(url, large)).status).toBe(413);
    expect((await provider.post(url.replace(/.{43}\/$/, `${"a".repeat(43)}/`), large)).status).toBe(404);
  });
});
