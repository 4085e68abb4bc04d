/**
 * Values written to the database without the API's checks, everywhere that reaches a header or a boundary: the email
 * has the fields of a harmless one, and cannot break out of its DATA.
 */
import { generateKeyPairSync } from "node:crypto";
import type { Content } from "../../../services/renderer/content.ts";
import { UnusableAddress } from "../../../services/renderer/mime/headers.ts";
import type { Recipient } from "../../../services/renderer/program/scope.ts";
import { faultsOfBytes } from "../../support/message.ts";
import { makeMail } from "../../support/render.ts";

const SMUGGLED = "MAIL FROM:<x@evil.example>\r\nRCPT TO:<y@evil.example>\r\nDATA\r\nSubject: smuggled\r\n\r\nhello";
const HOSTILE = [
  "a\r\nBcc: victim@evil.example",
  "a\nBcc: victim@evil.example",
  "a\rBcc: victim@evil.example",
  "a\r\n\r\n<script>body</script>",
  "a\u0085Bcc: x\u2028Bcc: y\u2029Bcc: z\u000bBcc: v\u000cBcc: f",
  "a\r\n.\r\nQUIT\r\n",
  `a\n.\r\n${SMUGGLED}`,
  `a\r.\r${SMUGGLED}`,
  `a\n.\n${SMUGGLED}`,
  "..",
  "\r\n.",
  "\0\u0001\u001b[2J",
  '"; filename="evil.exe',
  "=?utf-8?Q?a=0D=0ABcc:_victim@evil.example?=",
  `${"x".repeat(2_000)}\r\nBcc: victim@evil.example`,
  "é\r\nBcc: victim@evil.example",
];

const { privateKey } = generateKeyPairSync("ed25519");
const dkim = [
  {
    domain: "example.org",
    selector: "s1",
    privateKey: String(privateKey.export({ type: "pkcs8", format: "pem" })),
  },
];
const file = { filename: "a.txt", contentType: "text/plain", data: Buffer.from(`.\r\n..\n.\r${SMUGGLED}`) };
const data = { first_name: "Ann", attributes: { x: "x" }, cc: ["carl@example.com"] };

type Place = (value: string) => { content?: Partial<Content>; to?: Partial<Recipient> };
const PLACES: Record<string, Place> = {
  "the sender's name": (senderName) => ({ content: { senderName } }),
  "the list's name": (listName) => ({ content: { listName } }),
  "the company's name": (companyName) => ({ content: { companyName, subject: "[[company.name]]" } }),
  "the footer": (footerText) => ({ content: { footerText } }),
  "the subject itself": (subject) => ({ content: { subject: subject.slice(0, 900) } }),
  "the body itself": (body) => ({ content: { body } }),
  "a variable of the subject": (x) => ({ to: { attributes: { x } } }),
  "a receiver's own variable": (x) => ({ to: { variables: { x } } }),
  "a receiver's name": (first_name) => ({ content: { subject: "Hello [[first_name]]" }, to: { first_name } }),
  "an unescaped variable of the body": (x) => ({ content: { body: "[[[x]]]" }, to: { attributes: { x } } }),
  "a link's address": (x) => ({
    content: { body: '<a href="https://e.example/[[x]]">x</a>' },
    to: { attributes: { x } },
  }),
  "a name of an attachment": (filename) => ({ content: { attachments: [{ ...file, filename }] } }),
  "a type of an attachment": (contentType) => ({ content: { attachments: [{ ...file, contentType }] } }),
  "the bytes of an attachment": (text) => ({ content: { attachments: [{ ...file, data: Buffer.from(text) }] } }),
  "a cc": (address) => ({ to: { cc: [address, "carl@example.com"] } }),
};

function make(place: Place, value: string, copy = false) {
  const { content = {}, to = {} } = place(value);
  return makeMail({ subject: "[[x]]", attachments: [file], dkim, ...content }, { ...data, ...to }, { copy });
}

/** Names of the fields of the email and of each of its parts, in order. */
function fieldNames(message: Buffer): string[][] {
  const text = message.toString("latin1");
  const heads = [text.slice(0, text.indexOf("\r\n\r\n"))];
  for (const [, head] of text.matchAll(/\r\n--=_[0-9a-f]{32}\r\n(.*?)\r\n\r\n/gs)) heads.push(head!);
  return heads.map((head) => head.split(/\r\n(?![ \t])/).map((field) => field.slice(0, field.indexOf(":"))));
}

describe.each(Object.entries(PLACES))("a value in %s", (_, place) => {
  test.each(HOSTILE)("adds no field, no part and no command: %j", async (value) => {
    for (const copy of [false, true]) {
      const { message } = await make(place, value, copy);
      expect(fieldNames(message)).toEqual(fieldNames((await make(place, "plain@example.com", copy)).message));
      expect(faultsOfBytes(message)).toEqual([]);
    }
  });
});

describe.each<[string, Place]>([
  ["the recipient's address", (email) => ({ to: { email: `${email}@example.com` } })],
  ["the recipient's domain", (domain) => ({ to: { email: `ann@${domain}.com` } })],
  ["the sender's address", (senderEmail) => ({ content: { senderEmail } })],
  ["the address for replies", (replyToEmail) => ({ content: { replyToEmail } })],
])("an address in %s", (_, place) => {
  test.each(HOSTILE)("makes no mail at all if it is %j", async (value) => {
    await expect(make(place, value)).rejects.toThrow(UnusableAddress);
  });
});
