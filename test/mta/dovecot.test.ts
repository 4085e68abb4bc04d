/**
 * Mail as third-party software sees it at its destination: relayed by Postfix, filed by Dovecot's LMTP, read by
 * Dovecot's IMAP and Python's strict parser. Compares headers and parts with what was sent.
 */
import { createHash, generateKeyPairSync } from "node:crypto";
import { dkimVerify } from "mailauth/lib/dkim/verify.js";
import { fileForm } from "../support/client.ts";
import { faultsOfBytes, fieldOf } from "../support/message.ts";
import type { MailServer } from "../support/mta/daemon.ts";
import { linesOf } from "../support/mta/daemon.ts";
import { ALL_ARRIVED, SENDER_DOMAIN, tally } from "../support/mta/deliveries.ts";
import { type Dovecot, type ImapMail, startDovecot } from "../support/mta/dovecot.ts";
import { startPostfix } from "../support/mta/postfix.ts";
import { addresses, type CampaignView, type MailService, openService, type Receiver } from "../support/mta/service.ts";
import { readByPython } from "../support/python-policy.ts";

jest.setTimeout(180_000);

const sha256 = (content: Uint8Array | string) => createHash("sha256").update(content).digest("hex");

const SENDER = "Книжная лавка «Фонарь»";
const WIDE = "長い段落は区切りなしに続きます。".repeat(150);
const LONG = `${"unbroken".repeat(400)} ${"слово ".repeat(300)}`.trim();
const HTML = [
  "<h1>Здравствуйте, [[first_name]]</h1>",
  `<p>${WIDE}</p>`,
  `<p>${LONG}</p>`,
  "<pre>",
  ".",
  "..two dots",
  "From here on, a line that begins like a mailbox's separator",
  "trailing spaces   ",
  "\ttab and emoji 👩‍👩‍👧",
  "</pre>",
].join("\n");
const FILES = [
  {
    name: "отчёт за 2026 год.bin",
    type: "application/octet-stream",
    charset: null,
    content: Buffer.from(Array.from({ length: 90_000 }, (_, i) => (i * 31) % 256)),
  },
  {
    name: "見積書 (最終).csv",
    type: "text/csv",
    charset: "utf-8",
    content: Buffer.from(`名前;値\r\n${`.;${"ж".repeat(1_500)}\n`.repeat(3)}`),
  },
  { name: "=?utf-8?Q?evil.exe?=.txt", type: "text/plain", charset: "utf-8", content: Buffer.from(".") },
];

const PEOPLE: (Receiver & { first_name: string })[] = [
  { email: "anna@to.example", first_name: "Анна Щербакова" },
  { email: "yamada@to.example", first_name: "山田 太郎" },
  { email: "petr@пример.example", first_name: "Пётр" },
  { email: "zoe@to.example", first_name: 'Zoë, "Zee" <z>', cc: ["carl@to.example"], bcc: ["eve@to.example"] },
];
/** The mailbox is named after the envelope's address. */
const mailboxOf = (address: string) => address.replace("пример.example", "xn--e1afmkfd.example");
const subjectFor = (name: string) => `Осенние книги / 秋の本 — ${name} 📚`;

let service: MailService;
let dovecot: Dovecot;
let postfix: MailServer;
/** Messages by mailbox. */
let mails: Map<string, ImapMail[]>;
const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const publicDer = publicKey.export({ type: "spki", format: "der" }).toString("base64");

beforeAll(async () => {
  dovecot = await startDovecot();
  [service, postfix] = await Promise.all([
    openService(),
    startPostfix({
      main: {
        virtual_transport: `lmtp:inet:127.0.0.1:${dovecot.port}`,
        // Dovecot records the recipient (Delivered-To) only for mails with a single one.
        lmtp_destination_recipient_limit: "1",
      },
    }),
  ]);
  const ids: string[] = [];
  for (const { name, content } of FILES) {
    ids.push((await service.api<{ id: string }>("POST", "/api/emails/media/", fileForm(content, name))).id);
  }
  const config = await service.api<{ id: string }>("POST", "/api/emails/smtp-configs/", {
    name: "Relay",
    host: "localhost",
    port: postfix.port,
    username: "",
    password: "",
    use_tls: false,
    sender_name: SENDER,
    sender_email: `news@${SENDER_DOMAIN}`,
    dkim: {
      domain: SENDER_DOMAIN,
      selector: "s1",
      private_key: privateKey.export({ type: "pkcs8", format: "pem" }),
    },
  });
  const { id } = await service.api<CampaignView>("POST", "/api/emails/send/custom/", {
    name: "Autumn",
    smtp_config_id: config.id,
    subject: subjectFor("[[first_name]]"),
    body: HTML,
    attachment_ids: ids,
    receivers: PEOPLE,
  });
  expect(await service.finished(id)).toMatchObject({ status: "completed", sent_count: PEOPLE.length, error: null });
  await service.settled(dovecot.deliveries);
  const mailboxes = addresses(PEOPLE).map(mailboxOf);
  mails = new Map(
    await Promise.all(mailboxes.map(async (mailbox) => [mailbox, await dovecot.mailsOf(mailbox)] as const)),
  );
});
afterAll(() => Promise.all([service?.stop(), postfix?.stop(), dovecot?.stop()]));

test("everybody, copies included, gets one mail, and no log has an error", () => {
  const everybody = addresses(PEOPLE).map(mailboxOf);
  expect(tally(dovecot.deliveries(), everybody)).toEqual({ ...ALL_ARRIVED, arrived: everybody.length });
  expect(linesOf(postfix.log(), /improper command pipelining|status=(?!sent)|warning:/)).toEqual([]);
  expect(linesOf(dovecot.log(), /Error|Warning|Fatal/)).toEqual([]);
});

describe.each(PEOPLE)("the mail for $email", ({ email, first_name: name, cc = [], bcc = [] }) => {
  const mailboxes = [email, ...cc, ...bcc].map(mailboxOf);
  const arrived = () => mailboxes.map((mailbox) => mails.get(mailbox)![0]!);

  test("arrives unchanged and keeps the rules for messages", async () => {
    for (const { raw } of arrived()) {
      expect(faultsOfBytes(raw)).toEqual([]);
      const { results } = await dkimVerify(raw, { resolver: async () => [[`v=DKIM1; k=rsa; p=${publicDer}`]] });
      expect(results.map(({ status }) => status?.result)).toEqual(["pass"]);
      for (const field of ["From", "To", "Subject", "Date", "Message-ID", "MIME-Version", "List-Unsubscribe"]) {
        expect([field, fieldOf(raw, field)]).toEqual([field, expect.stringMatching(/./)]);
      }
    }
  });

  test("shows nobody in Bcc to the other recipients", () => {
    const shown = bcc.flatMap((hidden) =>
      mailboxes.filter((mailbox) => mailbox !== hidden && mails.get(mailbox)![0]!.raw.includes(hidden)),
    );
    expect(shown).toEqual([]);
  });

  test("has the requested headers and parts, by Dovecot's parser", () => {
    for (const { envelope, parts } of arrived()) {
      expect(envelope).toEqual({
        subject: subjectFor(name),
        from: [[SENDER, `news@${SENDER_DOMAIN}`]],
        to: [["", mailboxOf(email)]],
        cc: cc.map((address) => ["", address]),
        messageId: expect.stringMatching(new RegExp(`^<.+@${SENDER_DOMAIN}>$`)),
      });
      expect(parts.map(({ type, charset, disposition }) => [type, charset, disposition])).toEqual([
        ["text/plain", "utf-8", null],
        ["text/html", "utf-8", null],
        ...FILES.map(({ type, charset }) => [type, charset, "attachment"]),
      ]);
      expect(parts.slice(2).map((part) => part.sha256)).toEqual(FILES.map(({ content }) => sha256(content)));
    }
  });

  test("has the same headers, texts and attachments by Python's strict parser", () => {
    for (const { raw, parts } of arrived()) {
      const found = readByPython([raw])[0]!;
      expect(found).toEqual({
        defects: [],
        subject: subjectFor(name),
        from: SENDER,
        to: [mailboxOf(email)],
        text: parts[0]!.text,
        html: parts[1]!.text,
        attachments: FILES.map(({ name: filename, content }) => ({ filename, sha256: sha256(content) })),
      });
      // The text part is derived from HTML.
      const lost = (text: string, wanted: string[]) => wanted.filter((piece) => !text.includes(piece));
      expect(lost(found.text, [name, WIDE, LONG, "\n.\n..two dots\nFrom here on,"])).toEqual([]);
      expect(lost(found.html, [HTML.slice(HTML.indexOf("</h1>"))])).toEqual([]);
    }
  });
});
