import { randomBytes } from "node:crypto";
import { charactersOf, fixedBytes, MailBytes } from "../../services/lib/mail-bytes.ts";
import { base64Lines } from "../../services/renderer/mime/attachments.ts";

const PRINTABLE = charactersOf(/[ -~]/);

/** A mail of these texts; "|" before one: as bytes that were prepared. */
function mailOf(...texts: string[]): MailBytes {
  const mail = new MailBytes();
  for (const text of texts) {
    if (text.startsWith("|")) mail.fixed(fixedBytes(text.slice(1)));
    else mail.text(text);
  }
  return mail;
}

test("a mail is the bytes of its pieces in their order, however many they are", () => {
  const piece = Buffer.from(Array.from({ length: 256 }, (_, n) => n)).toString("latin1");
  const mail = new MailBytes();
  let expected = "";
  for (let n = 0; n < 400; n++) {
    mail.text(piece);
    mail.text("");
    mail.fixed(fixedBytes(`${n}`));
    expect(mail.softLine(`line ${n}`, PRINTABLE)).toBe(true);
    mail.slot({ writeTo: (memory, at, no) => void memory.write("abc", at + no - n, "latin1") }, n, 3);
    expected += `${piece}${n}line ${n}=\r\nabc`;
  }
  expect(mail.length).toBe(expected.length);
  expect(mail.view().equals(Buffer.from(expected, "latin1"))).toBe(true);
  expect(mail.toString(expected.length - 6)).toBe("=\r\nabc");
});

test.each(["=", "a=", "<", "a\r\n", "\u00e9", "\u0100a", "a\u{1f600}", "a\u0080"])(
  "a line of which a character is not plain is left to others, and nothing of it stands in the mail: %j",
  (text) => {
    const mail = mailOf("|before ");
    expect(mail.softLine(text, charactersOf(/[ !#-%(-;?-~]/))).toBe(false);
    expect(mail.toString()).toBe("before ");
  },
);

test("base64 has lines of 76 characters, each ended", () => {
  for (const length of [0, 1, 2, 3, 56, 57, 58, 113, 114, 115, 10_000, 100_000]) {
    const bytes = randomBytes(length);
    const data = new MailBytes();
    data.text(bytes.toString("latin1"));
    const mail = mailOf("|before\r\n");
    mail.base64(data);
    expect(mail.toString() === `before\r\n${base64Lines(bytes)}`).toBe(true);
  }
});

test.each<[string, string[]]>([
  ["begins the mail", [".a\r\n"]],
  ["begins the mail with bytes that were prepared", ["|.a\r\n"]],
  ["stands behind the end of a line", ["a\r\n", ".b\r\n"]],
  ["stands behind the end of a prepared line", ["|a\r\n", "|.b\r\n"]],
  ["stands within a text", ["a\r\n.b\r\n"]],
])("a line that begins with a dot is noticed where it %s", (_where, texts) => {
  expect(mailOf(...texts).isWireForm).toBe(false);
});

test("any other dot is none of these, and neither is one that was there before the memory was released", () => {
  const dotted = mailOf(".a\r\n");
  dotted.release();
  expect(mailOf("a.\r\n", "b", ".c\r\n", "|d", "|.\r\n").isWireForm).toBe(true);
});

test.each([[[]], [["a"]], [["a\r\n", "b"]], [["a\n"]]])(
  "a mail without an end of its last line is noticed: %j",
  (texts) => {
    expect(mailOf(...texts).isWireForm).toBe(false);
  },
);

test("text that stands in many mails has no line that begins with a dot", () => {
  expect(() => fixedBytes("a\r\n.b")).toThrow("begins with a dot");
});

test("released memory serves the next mail, and what is still in use serves no other", () => {
  const mails = Array.from({ length: 20 }, (_, n) => mailOf(`mail ${n}`));
  const memories = mails.map((mail) => mail.view().buffer);
  expect(new Set(memories).size).toBe(mails.length);
  expect(mails.map(String)).toEqual(mails.map((_, n) => `mail ${n}`));
  const [first] = mails;
  first!.release();
  // A second time gives nothing back.
  first!.release();
  const [next, another] = [mailOf("next"), mailOf("another")];
  expect(next!.view().buffer).toBe(memories[0]);
  expect(memories).not.toContain(another!.view().buffer);
});
