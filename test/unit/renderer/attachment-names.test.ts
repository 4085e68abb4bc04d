/** An attachment's name is read literally, even if it looks like an encoded word (RFC 2047). */
import { hasPython, readByPython } from "../../support/python-policy.ts";
import { makeMail } from "../../support/render.ts";

async function partOf(filename: string): Promise<{ head: string; message: Buffer }> {
  const attachments = [{ filename, contentType: "application/pdf", data: Buffer.from("x") }];
  const { message } = await makeMail({ attachments });
  const text = message.toString("latin1");
  const at = text.lastIndexOf("Content-Type: application/pdf");
  return { head: text.slice(at, text.indexOf("\r\n\r\n", at)), message };
}

/** The parameter by the rules of RFC 2231, and nothing decoded that these do not name. */
function extended(head: string, name: string): string {
  const pieces = [...head.matchAll(new RegExp(`;\\r\\n ${name}\\*(?:\\d+\\*)?=([^;\\r]*)`, "g"))].map(
    (match) => match[1]!,
  );
  return decodeURIComponent(pieces.join("").replace(/^utf-8''/, ""));
}

const NAMES = [
  "=?utf-8?Q?evil.exe?=.txt",
  "=?utf-8?B?ZXZpbC5leGU=?=",
  "a =?us-ascii?q?=22=3B_b?= c.txt",
  "=?",
  `${"long ".repeat(30)}=?utf-8?Q?evil.exe?=.txt`,
  "Größe =?utf-8?Q?evil.exe?=.txt",
];

describe("an attachment name", () => {
  test.each(NAMES)("%j is encoded by RFC 2231, with plain letters for clients that do not know it", async (name) => {
    const { head } = await partOf(name);
    expect(extended(head, "filename")).toBe(name);
    expect(head).not.toContain("=?");
    expect(head.replace(/;\r\n name="[A-Za-z0-9._-]+"|;\r\n name(?:\*\d+)\*=[^;\r]+/g, "")).not.toMatch(/\bname/);
  });

  test("is read correctly by Python's strict policy in each of these forms", async () => {
    if (!hasPython) return console.info("No python3 here: not checked against Python's email policy.");
    const messages = await Promise.all(NAMES.map(async (name) => (await partOf(name)).message));
    const expected = NAMES.map((filename) => ({ defects: [], attachments: [{ filename }] }));
    expect(readByPython(messages)).toMatchObject(expected);
  });

  test("stays plain otherwise", async () => {
    const { head } = await partOf("a = b? c.txt");
    expect(head).toContain(';\r\n name="a = b? c.txt"');
    expect(head).toContain(';\r\n filename="a = b? c.txt"');
  });
});
