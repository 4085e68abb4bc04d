import { decodeWords, faultsOfBytes, fieldOf, read } from "../../support/message.ts";
import { makeMail, RECIPIENT } from "../../support/render.ts";

const COMPANY = "018f0000-0000-7000-8000-000000000002";
const LIST = "018f0000-0000-7000-8000-000000000003";
const CAMPAIGN = "018f0000-0000-7000-8000-000000000001";

describe("the headers of every email", () => {
  test.each([
    ["From", "Ann <ann@example.org>"],
    ["Reply-To", "ann@example.org"],
    ["To", "bob@example.com"],
    ["Message-ID", `<${RECIPIENT.id}@example.org>`],
    ["X-Mailer", "Flockmail"],
    ["Precedence", "bulk"],
    ["List-Unsubscribe", `<https://mail.example.org/api/emails/public/unsubscribe/${RECIPIENT.id}/>`],
    ["List-Unsubscribe-Post", "List-Unsubscribe=One-Click"],
    ["List-Id", `"News" <${LIST}.example.org>`],
    ["Feedback-ID", `${CAMPAIGN}:${COMPANY}:marketing:flockmail`],
    ["MIME-Version", "1.0"],
    ["Cc", undefined],
    ["Bcc", undefined],
  ])("include %s", async (name, value) => expect(fieldOf((await makeMail()).message, name)).toBe(value));

  test("are on transactional mail as well, which gets no footer", async () => {
    const { message } = await makeMail({ isTransactional: true });
    expect(fieldOf(message, "List-Unsubscribe-Post")).toBe("List-Unsubscribe=One-Click");
    expect(fieldOf(message, "Feedback-ID")).toMatch(/:transactional:flockmail$/);
    expect((await read(message)).html).not.toContain("unsubscribe");
  });

  test("include the current Date, in the form of RFC 5322", async () => {
    // Date has whole seconds.
    const beforeMs = Math.floor(Date.now() / 1_000) * 1_000;
    const date = fieldOf((await makeMail()).message, "Date")!;
    expect(date).toMatch(/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} \+0000$/);
    expect(Date.parse(date)).toBeGreaterThanOrEqual(beforeMs);
    expect(Date.parse(date)).toBeLessThanOrEqual(Date.now());
  });

  test("include the configured Reply-To", async () => {
    expect(fieldOf((await makeMail({ replyToEmail: "team@example.net" })).message, "Reply-To")).toBe(
      "team@example.net",
    );
  });

  test("are the same when an email is made twice, except its Date", async () => {
    const without = ({ message }: { message: Buffer }) => message.toString("latin1").replace(/^Date:.*$/m, "");
    expect(without(await makeMail())).toBe(without(await makeMail()));
  });
});

describe("copies", () => {
  test("are visible to all in cc, and to none in bcc", async () => {
    const to = { cc: ["carl@example.com", "dora@example.com"], bcc: ["eve@example.com"] };
    for (const copy of [false, true]) {
      const { message } = await makeMail({}, to, { copy });
      expect((await read(message)).cc).toMatchObject({
        value: [{ address: "carl@example.com" }, { address: "dora@example.com" }],
      });
      expect(message.toString("latin1")).not.toContain("eve@");
    }
  });

  test("fail nothing if a cc is unusable", async () => {
    const { message, smtputf8 } = await makeMail(
      {},
      { cc: ["carl@example.com", "x\r\nBcc: y@z.example", "jörg@example.com"] },
    );
    expect(smtputf8).toBe(false);
    expect(fieldOf(message, "Cc")).toMatch(/^carl@example\.com, =\?utf-8\?\S+ :;$/);
    expect(decodeWords(fieldOf(message, "Cc")!)).toContain("jörg@example.com");
    expect(faultsOfBytes(message)).toEqual([]);
  });
});

describe("addresses", () => {
  test("are sent as punycode, which any server accepts, if the domain is not ASCII", async () => {
    const { message, smtputf8 } = await makeMail(
      { senderEmail: "ann@bücher.example" },
      { email: "bob@münchen.example" },
    );
    expect({ smtputf8, to: fieldOf(message, "To") }).toEqual({ smtputf8: false, to: "bob@xn--mnchen-3ya.example" });
    expect(fieldOf(message, "Message-ID")).toBe(`<${RECIPIENT.id}@xn--bcher-kva.example>`);
    expect(faultsOfBytes(message)).toEqual([]);
  });

  test("are sent as UTF-8 and need SMTPUTF8 if the local part is not ASCII", async () => {
    const { message, smtputf8 } = await makeMail({}, { email: "用户@example.com" });
    expect(smtputf8).toBe(true);
    expect(Buffer.from(fieldOf(message, "To")!, "latin1").toString()).toBe("用户@example.com");
    expect(faultsOfBytes(message, { utf8: true })).toEqual([]);
  });

  test.each([
    "",
    "bob",
    "bob@",
    "a@b",
    "a b@c.example",
    "a@b.example\r\nBcc: x@y.example",
    "<a@b.example>",
    "a@b.example, c@d.example",
  ])("are refused in the form %j", async (email) => {
    await expect(makeMail({}, { email })).rejects.toThrow("The address is not valid.");
  });
});

describe("names and subjects", () => {
  test.each([
    ['Ann "The Boss" O\'Neil, Ltd. <x@y.example>', "quotes and specials"],
    ["Ann\r\nBcc: eve@example.com", "line breaks"],
    ["=?utf-8?B?RXZl?=", "what looks like an encoded word"],
    [`${"Very long name ".repeat(20)}`, "length"],
    ["Zoë ".repeat(60), "length beyond ASCII"],
  ])("encode %j as a sender's and list's name (%s)", async (name) => {
    const { message } = await makeMail({ senderName: name, listName: name });
    expect(faultsOfBytes(message)).toEqual([]);
    expect(fieldOf(message, "Bcc")).toBeUndefined();
    const { from } = await read(message);
    expect(from?.value).toMatchObject([{ name: name.replace(/[\r\n]+/g, " ").trim(), address: "ann@example.org" }]);
  });

  test.each([
    "",
    "short",
    "a".repeat(300),
    "word ".repeat(100).trim(),
    `${"a".repeat(70)} ${"b".repeat(70)}`,
    `x${" ".repeat(200)}y`,
    "=?utf-8?Q?not_a_word?=",
    "Größe: 100 % = alles?_",
    "日本語".repeat(60),
    "👩‍👩‍👧".repeat(40),
  ])("survive encoding: %j as a subject", async (subject) => {
    const { message } = await makeMail({ subject });
    const lines = message.toString("latin1").split("\r\n\r\n")[0]!.split("\r\n");
    expect(
      Math.max(...lines.filter((line) => /^(Subject| )/.test(line)).map((line) => line.length)),
    ).toBeLessThanOrEqual(78);
    expect((await read(message)).subject ?? "").toBe(subject);
  });

  test("are split into encoded words of at most 75 characters without splitting a character", async () => {
    const { message } = await makeMail({ subject: "é🎂".repeat(80) });
    const words = fieldOf(message, "Subject")!.split(/\s+/);
    expect(words.length).toBeGreaterThan(3);
    for (const word of words) {
      expect(word.length).toBeLessThanOrEqual(75);
      expect(decodeWords(word)).not.toContain("\ufffd");
    }
  });
});

describe("the MIME structure", () => {
  test("is multipart/alternative, and within multipart/mixed when there are attachments", async () => {
    const plain = (await makeMail()).message.toString("latin1");
    expect(plain.match(/^Content-Type: [^;]+/gm)).toEqual([
      "Content-Type: multipart/alternative",
      "Content-Type: text/plain",
      "Content-Type: text/html",
    ]);
    const attachments = [
      { filename: "a.txt", contentType: "text/plain", data: Buffer.from("a") },
      { filename: 'b"\\;.bin', contentType: "nonsense", data: Buffer.alloc(0) },
      { filename: "c.eml", contentType: "message/rfc822", data: Buffer.from("From: x") },
    ];
    const { message } = await makeMail({ attachments });
    expect(message.toString("latin1").match(/^Content-Type: [^;]+/gm)).toEqual([
      "Content-Type: multipart/mixed",
      "Content-Type: multipart/alternative",
      "Content-Type: text/plain",
      "Content-Type: text/html",
      "Content-Type: text/plain",
      "Content-Type: application/octet-stream",
      "Content-Type: application/octet-stream",
    ]);
    const parsed = await read(message);
    expect(parsed.attachments.map(({ filename, content }) => [filename, content.toString()])).toEqual([
      ["a.txt", "a"],
      ['b"\\;.bin', ""],
      ["c.eml", "From: x"],
    ]);
    expect(faultsOfBytes(message)).toEqual([]);
  });

  test("declares UTF-8 for an attached text that is UTF-8", async () => {
    const attached = async (contentType: string, data: Buffer) => {
      const { message } = await makeMail({ attachments: [{ filename: "a.txt", contentType, data }] });
      return /Content-Type: [a-z]+\/[a-z]+(;\r\n charset=[\w-]+)?;\r\n name="a.txt"/.exec(
        message.toString("latin1"),
      )![1];
    };
    expect(await attached("text/csv", Buffer.from("Größe;東京"))).toBe(";\r\n charset=utf-8");
    expect(await attached("text/plain", Buffer.from("Größe", "latin1"))).toBeUndefined();
    expect(await attached("application/json", Buffer.from("{}"))).toBeUndefined();
  });

  test("has different boundaries in each campaign", async () => {
    const boundary = async (campaignId: string) =>
      /boundary="([^"]+)"/.exec((await makeMail({ campaignId })).message.toString("latin1"))![1];
    const [one, again, other] = [await boundary(CAMPAIGN), await boundary(CAMPAIGN), await boundary(LIST)];
    expect(one).toBe(again);
    expect(one).not.toBe(other);
  });

  test("uses base64 for mostly non-ASCII text, quoted-printable for other text", async () => {
    const encodings = async (body: string) =>
      (await makeMail({ body })).message.toString("latin1").match(/(?<=^Content-Transfer-Encoding: ).*(?=\r)/gm);
    expect(await encodings(`<p>${"Привет ".repeat(40)}</p>`)).toEqual(["base64", "base64"]);
    expect(await encodings(`<p>${"Größe und mehr ".repeat(40)}</p>`)).toEqual(["quoted-printable", "quoted-printable"]);
  });
});

describe("the footer", () => {
  const footer = async (given: object) => (await read((await makeMail(given)).message)).html;

  test("is added before the end of a body that has no unsubscribe link, with the company's words", async () => {
    const html = await footer({
      body: "<body><p>x</p></body>",
      companyName: "A & [[b]]",
      footerText: "Street 1\n<b>Town</b>",
    });
    expect(html).toContain("A &amp; [[b]]<br>Street 1<br>&lt;b&gt;Town&lt;/b&gt;<br>");
    expect(html).toMatch(
      /public\/unsubscribe\/[\w-]{36}\/"[^>]*>Unsubscribe<\/a>.*public\/preferences\/TOKEN\/".*<\/div>\n<img[^>]*><\/body>/s,
    );
  });

  test.each(["[[unsubscribe_url]]", "<p><a href='[[ unsubscribe_url ]]'>x</a></p>"])(
    "is not added to a body with %s",
    async (body) => {
      expect(await footer({ body })).not.toContain("Preferences");
    },
  );

  test.each([
    ['<html lang="de-AT"><body>x</body></html>', '">Abmelden</a>', '">Einstellungen</a>'],
    ["<html class=a lang=ar dir=rtl>x</html>", '">إلغاء الاشتراك</a>', '">التفضيلات</a>'],
    ['<html lang="ja">x</html>', ' lang="en" style="color:#595959">Unsubscribe</a>', ">Preferences</a>"],
    ['<html lang="[[language]]">x</html>', ' lang="en" style="color:#595959">Unsubscribe</a>', ">Preferences</a>"],
    ['<p lang="de">x</p>', ' lang="en" style="color:#595959">Unsubscribe</a>', ">Preferences</a>"],
  ])("is in the language of %j, or marked as English", async (body, ...links) => {
    const html = await footer({ body });
    for (const link of links) expect(html).toContain(link);
  });

  test("is in the text part as well", async () => {
    const { text } = await read((await makeMail({ companyName: "ACME Ltd" })).message);
    expect(text).toMatch(
      /ACME Ltd\nUnsubscribe \(https:\/\/mail\.example\.org\/api\/emails\/public\/unsubscribe\/[\w-]{36}\/\)/,
    );
  });
});
