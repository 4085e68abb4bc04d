/** The email as it arrives over SMTP from a request over HTTP, and what its links do. */
import { generateKeyPairSync } from "node:crypto";
import { dkimVerify } from "mailauth/lib/dkim/verify.js";
import { type App, startApp } from "../../support/app.ts";
import { client, fileForm, newCompany, someIp, type TestCompany } from "../../support/client.ts";
import { faultsOfBytes, fieldOf, read } from "../../support/message.ts";
import { type Accepted, type SmtpServer, startSmtpServer } from "../../support/smtp-server.ts";

const PERSON = { "User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0" };

let app: App;
let smtp: SmtpServer;
let company: TestCompany;
let smtpConfigId: string;
const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });

beforeAll(async () => {
  [app, smtp] = [await startApp(), await startSmtpServer()];
  company = await newCompany(app, { name: "Café Ünion" });
  const made = await company.api.post("/api/emails/smtp-configs/", {
    name: "test",
    host: "127.0.0.1",
    port: smtp.port,
    username: "",
    password: "",
    use_tls: false,
    sender_name: "Zoë",
    sender_email: "zoe@example.com",
    dkim: {
      domain: "example.com",
      selector: "s1",
      private_key: String(privateKey.export({ type: "pkcs8", format: "pem" })),
    },
  });
  if (made.status !== 201) throw new Error(made.text);
  smtpConfigId = made.body.id;
});
afterAll(async () => {
  await app.stop();
  await smtp.stop();
});

const bytes = (mail: Accepted) => Buffer.from(mail.raw, "latin1");
/** Links are on the base address of the configuration; the test's gateway listens elsewhere. */
const visit = (url: string) => client(app, { ip: someIp(), headers: PERSON }).get(new URL(url).pathname);

describe("a custom email", () => {
  const attached = Buffer.from(Array.from({ length: 40_000 }, (_, i) => (i * 31) % 256));
  const body = `<html><body><h1>Olá [[first_name]]</h1>
    [[#each items]]<p><a href="[[this.url]]">[[this.name]]</a></p>[[/each]]
    <a href="https://example.org/about?a=1&amp;b=2">about</a></body></html>`;
  let mails: Accepted[];

  beforeAll(async () => {
    const file = await company.api.post("/api/emails/media/", fileForm(attached, "отчёт.bin"));
    const sent = await company.api.post("/api/emails/send/custom/", {
      name: "C",
      smtp_config_id: smtpConfigId,
      subject: "Für [[first_name]]",
      body,
      attachment_ids: [file.body.id],
      receivers: [
        {
          email: "bob@example.net",
          first_name: "Bób <b>",
          cc: ["carl@example.net"],
          bcc: ["eve@example.net"],
          items: [{ name: "Tea", url: "https://shop.example/tea?x=1&y=2" }],
        },
      ],
    });
    expect({ status: sent.status, body: sent.text }).toMatchObject({ status: 201 });
    await smtp.received(2);
    mails = smtp.messages;
  });

  const primary = () => mails.find(({ to }) => to.includes("bob@example.net"))!;
  const copy = () => mails.find(({ to }) => to.includes("carl@example.net"))!;

  test("arrives well-formed, signed, with its attachment", async () => {
    for (const mail of [primary(), copy()]) {
      expect(faultsOfBytes(bytes(mail))).toEqual([]);
      const p = publicKey.export({ type: "spki", format: "der" }).toString("base64");
      const { results } = await dkimVerify(bytes(mail), { resolver: async () => [[`v=DKIM1; k=rsa; p=${p}`]] });
      expect(results[0]?.status).toMatchObject({ result: "pass" });
      const { subject, from, cc, attachments } = await read(bytes(mail));
      expect({ subject, from: from?.value[0]?.name, cc }).toMatchObject({
        subject: "Für Bób <b>",
        from: "Zoë",
        cc: { text: "carl@example.net" },
      });
      expect(attachments[0]?.filename).toBe("отчёт.bin");
      expect(attachments[0]?.content.equals(attached)).toBe(true);
      expect(mail.raw).not.toContain("eve@");
    }
    expect(copy().to).toContain("eve@example.net");
    expect(fieldOf(bytes(copy()), "Message-ID")).toBe(fieldOf(bytes(primary()), "Message-ID"));
  });

  test("has tracked links, static and from variables, in the primary recipient's email only", async () => {
    const { html } = await read(bytes(primary()));
    const tracked = [...html.matchAll(/href="([^"]*\/click\/[^"]*)"/g)].map((match) => match[1]!);
    const locations = [];
    for (const url of tracked) locations.push((await visit(url)).headers.get("location"));
    expect(locations).toEqual(["https://shop.example/tea?x=1&y=2", "https://example.org/about?a=1&b=2"]);
    expect((await read(bytes(copy()))).html).not.toMatch(/\/click\/|\/open\//);
  });

  test("has a pixel, a web view, a subject in the list of emails, and an unsubscribe link", async () => {
    const { html } = await read(bytes(primary()));
    expect((await visit(/src="([^"]*\/open\/[^"]*)"/.exec(html)![1]!)).headers.get("content-type")).toBe("image/gif");
    const unsubscribe = fieldOf(bytes(primary()), "List-Unsubscribe")!.slice(1, -1);
    const page = await visit(unsubscribe.replace("/unsubscribe/", "/view/"));
    expect(page.status).toBe(200);
    expect(page.text).toContain('<a href="https://shop.example/tea?x=1&amp;y=2">Tea</a>');
    expect(page.text).toContain("Café Ünion");
    expect(page.text).not.toMatch(/\/click\/|\/open\//);
    const { body: list } = await company.api.get("/api/emails/sent-emails/");
    expect(list.results).toMatchObject([{ recipient: "bob@example.net", subject: "Für Bób <b>" }]);
    const preferences = /href="([^"]*)"[^>]*>Preferences/.exec(html)![1]!;
    expect((await visit(preferences)).status).toBe(200);
    const out = await client(app, { ip: someIp() }).post(
      new URL(unsubscribe).pathname,
      new URLSearchParams({ "List-Unsubscribe": "One-Click" }),
    );
    expect(out.status).toBe(200);
  });
});

describe("an email with its own preheader, text part and styles", () => {
  const body = `<html lang="fr"><head><style>.a{color:red} @media print{.a{color:blue}}</style></head>
    <body><p class="a">Bonjour [[first_name]] <a href="https://example.org/">x</a></p></body></html>`;
  const texts = {
    subject: "Pour [[first_name]]",
    preheader: "Six livres & un [[first_name]]",
    text_body: "Bonjour [[first_name]] <\u00e0 bient\u00f4t>\n.\n",
    body,
    inline_css: true,
  };
  const receivers = [{ email: "zoe@example.net", first_name: "Zo\u00eb <b>" }];
  const isShown = (mail: Accepted) => mail.to.includes("zoe@example.net");
  const arrived = async (path: string, params: object) => {
    const before = smtp.messages.length;
    const sent = await company.api.post(path, { name: "C", smtp_config_id: smtpConfigId, receivers, ...params });
    expect({ status: sent.status, body: sent.text }).toMatchObject({ status: 201 });
    await smtp.received(before + 1);
    const mail = smtp.messages.slice(before).find(isShown)!;
    expect(faultsOfBytes(bytes(mail))).toEqual([]);
    return mail;
  };

  async function expectThem(mail: Accepted): Promise<void> {
    const { html, text, subject } = await read(bytes(mail));
    expect(subject).toBe("Pour Zo\u00eb <b>");
    expect(html).toMatch(/<body><div style="display:none[^>]*>Six livres &amp; un Zo\u00eb &lt;b&gt;&#847;/);
    expect(html).toMatch(/<p style="color: red;" class="a">Bonjour Zo\u00eb &lt;b&gt; <a href="[^"]*\/click\//);
    expect(html).toContain("@media print{.a{color:blue}}");
    expect(text).toMatch(
      /^Bonjour Zo\u00eb <b> <\u00e0 bient\u00f4t>\n\.\n\nCaf\u00e9 \u00dcnion\nSe d\u00e9sabonner: http\S+\nPr\u00e9f\u00e9rences: http\S+\s*$/,
    );
    const unsubscribe = fieldOf(bytes(mail), "List-Unsubscribe")!.slice(1, -1);
    const page = await visit(unsubscribe.replace("/unsubscribe/", "/view/"));
    expect(page.text).toMatch(/^<html lang="fr"><head><title>Pour Zo\u00eb &lt;b&gt;<\/title><style>/);
    expect(page.text).not.toContain("Six livres");
  }

  test("arrives as written in a custom send", async () => {
    await expectThem(await arrived("/api/emails/send/custom/", texts));
  });

  test("arrives as written in a template", async () => {
    const { body: template } = await company.api.post("/api/emails/templates/", { name: "T", ...texts });
    await expectThem(await arrived("/api/emails/send/to-receivers/", { template_id: template.id }));
  });

  test("arrives as HTML if the template is MJML", async () => {
    const mjml = `<mjml><mj-body>[[#if first_name]]<mj-section><mj-column><mj-text>Bonjour [[first_name]]</mj-text></mj-column></mj-section>[[/if]]</mj-body></mjml>`;
    const given = { name: "M", subject: "Pour [[first_name]]", template_mode: "mjml", body: mjml };
    const { body: template } = await company.api.post("/api/emails/templates/", given);
    const mail = await arrived("/api/emails/send/to-receivers/", { template_id: template.id });
    const { html, text } = await read(bytes(mail));
    expect(html).toMatch(/^<!doctype html>[\s\S]*>Bonjour Zo\u00eb &lt;b&gt;<\/div>[\s\S]*Unsubscribe/);
    expect(html).not.toMatch(/\[\[|<mj/);
    expect(text).toMatch(/^Bonjour Zo\u00eb <b>\s/);
  });

  test("is refused as a whole if one of its texts is not a valid template", async () => {
    const wrong = { ...texts, preheader: "[[", text_body: "[[#if]]", body: "[[/if]]" };
    const params = { name: "C", smtp_config_id: smtpConfigId, receivers, ...wrong };
    const { status, body: errors } = await company.api.post("/api/emails/send/custom/", params);
    expect([status, Object.keys(errors).sort()]).toEqual([400, ["body", "preheader", "text_body"]]);
  });
});
