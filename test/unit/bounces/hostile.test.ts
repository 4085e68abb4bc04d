/** Untrusted messages must never make the report reader fail or take long. */
import fc from "fast-check";
import { readReport } from "../../../services/bounces/reports/read-report.ts";
import type { Report } from "../../../services/bounces/verdict.ts";
import { cpuMsOf } from "../../support/cpu.ts";
import { mail, report } from "./mails.ts";

/** CPU milliseconds: normal cases take a few, quadratic ones seconds. */
const MAX_MS = 1_500;

const FROM = "From: mailer-daemon@mx.example\nSubject: failure notice\n\nfailed 550 ";
const PARTS = "--b\r\nContent-Type: text/plain\r\n\r\nhi\r\n";
const RECIPIENT = "Final-Recipient: rfc822; a@b.example\nAction: failed\nDiagnostic-Code: smtp; 550 ";

const HOSTILE: [string, () => string | Buffer][] = [
  ["10,000 parts", () => `Content-Type: multipart/mixed; boundary=b\r\n\r\n${PARTS.repeat(10_000)}--b--`],
  [
    "3,000 levels",
    () =>
      Array.from({ length: 3_000 }, (_, i) => `Content-Type: multipart/mixed; boundary=b${i}\n\n--b${i}\n`).join(""),
  ],
  ["a boundary within itself", () => `Content-Type: multipart/mixed; boundary=b\n\n${"--b\n--b--b".repeat(20_000)}`],
  ["50 MB", () => Buffer.concat([Buffer.from(FROM), Buffer.alloc(50_000_000, "words of a mail\n")])],
  ["50 MB on one line", () => Buffer.concat([Buffer.from(FROM), Buffer.alloc(50_000_000, "a")])],
  ["100,000 header fields", () => `${"a: b\n".repeat(100_000)}\n`],
  ["a header folded 100,000 times", () => `Subject: a\n${" b\n".repeat(100_000)}\n`],
  ["a subject of encoded words", () => `Subject: ${"=?utf-8?q?a?= ".repeat(20_000)}\n\n`],
  ["unclosed quotes in parameters", () => `Content-Type: text/plain; a="${'\\"'.repeat(100_000)}\n\n`],
  ["nothing but at signs", () => FROM + "@".repeat(250_000)],
  ["50,000 addresses", () => FROM + "<a@b.example>:\n".repeat(50_000)],
  ["nothing but spaces", () => FROM + " ".repeat(250_000)],
  ["nothing but empty lines", () => FROM + "\n ".repeat(125_000)],
  ["nothing but dashes", () => FROM + "-".repeat(250_000)],
  ["words that begin patterns", () => FROM + "user mailbox recipient account exceeded the message ".repeat(5_000)],
  ["unclosed elements", () => `Content-Type: text/html\n${FROM}${"<style><a href=".repeat(20_000)}`],
  ["soft line breaks", () => `Content-Transfer-Encoding: quoted-printable\n${FROM}${"= ".repeat(125_000)}`],
  ["base64 that is none", () => `Content-Transfer-Encoding: base64\n${FROM}${"%$\u0000".repeat(80_000)}`],
  ["2,500 recipients", () => `Content-Type: message/delivery-status\n\n${`${RECIPIENT}\n\n`.repeat(2_500)}`],
  [
    "100 recipients with long diagnostics",
    () => `Content-Type: message/delivery-status\n\n${`${RECIPIENT}${"user account ".repeat(150)}\n\n`.repeat(120)}`,
  ],
  ["header-like lines", () => FROM + "X-a:b\n ".repeat(35_000)],
  ["JSON without an end", () => `${FROM}{"notificationType":${"[".repeat(100_000)}}`],
];

/** Checks that PostgreSQL can store the report and that no value breaks a line or a header. */
function expectWellFormed({ verdicts, addressedTo, dialect, returnedMessageId }: Report): void {
  expect(returnedMessageId ?? "a@b").toMatch(/^[^\p{C}\s]+@[^\p{C}\s]+$/u);
  expect(addressedTo.filter((address) => /\p{C}/u.test(address))).toEqual([]);
  expect(verdicts.length).toBeGreaterThan(0);
  expect(verdicts.length).toBeLessThanOrEqual(100);
  expect(addressedTo.length).toBeLessThanOrEqual(20);
  expect(dialect).toMatch(/^[\w.-]+$/);
  for (const { kind, reason, recipient, statusCode, diagnostic } of verdicts) {
    expect(["hard", "soft", "block", "complaint", "ignored"]).toContain(kind);
    expect(recipient === null || /^[^\p{C}]+@[^\p{C}@]+$/u.test(recipient)).toBe(true);
    expect(reason).toMatch(/^[a-z-]{1,40}$/);
    expect(statusCode === null || /^[245]\.\d{1,3}\.\d{1,3}$/.test(statusCode)).toBe(true);
    expect(diagnostic === null || (diagnostic.length <= 1_000 && !diagnostic.includes("\n"))).toBe(true);
  }
}

test.each(HOSTILE)("%s is read in bounded time", async (_, make) => {
  const made = make();
  const raw = typeof made === "string" ? Buffer.from(made) : made;
  let read: Report | undefined;
  const cpuMs = await cpuMsOf(async () => {
    read = await readReport(raw);
  });
  expectWellFormed(read!);
  expect(cpuMs).toBeLessThan(MAX_MS);
});

test("a report with a returned message of 50 MB is read from its beginning", async () => {
  const fields = ["Final-Recipient: rfc822; ann@shop.example", "Action: failed", "Status: 5.1.1"];
  const [head, tail] = report(fields).toString().split("Six books for evenings.");
  const raw = Buffer.concat([Buffer.from(head!), Buffer.alloc(50_000_000, "a line\r\n"), Buffer.from(tail!)]);
  const read = await readReport(raw);
  expect(read.returnedMessageId).toBe("mail-1@news.example");
  expect(read.verdicts).toMatchObject([{ kind: "hard", recipient: "ann@shop.example" }]);
});

test.each(["no-such-charset", "utf-7", "iso-2022-jp", "x-unknown", "", '"', "utf-16"])(
  "bytes that are invalid in charset %j are read",
  async (charset) => {
    const raw = Buffer.concat([
      mail(
        `Content-Type: text/plain; charset=${charset}`,
        "From: mailer-daemon@mx.example",
        "Subject: failure notice",
        "",
        "",
      ),
      Buffer.from("<ann@shop.example>:\n550 no such user\n"),
      Buffer.from([0xff, 0xfe, 0x1b, 0x24, 0x42, 0x80, 0x00]),
    ]);
    expectWellFormed(await readReport(raw));
  },
);

test("control characters in addresses, Message-IDs and types never reach a row", async () => {
  const read = await readReport(
    mail(
      "From: MAILER-DAEMON@mx.example",
      "To: a\u0000b@news.example",
      "Content-Type: multipart/report; boundary=b",
      "",
      "--b",
      "Content-Type: message/feedback-report",
      "",
      "Feedback-Type: abuse\u0000\u0007 of the worst kind",
      'Original-Rcpt-To: "a\u0000"@shop.example',
      "Original-Rcpt-To: \u0001ann@shop.example",
      "--b",
      "Content-Type: message/rfc822",
      "",
      "Message-ID: <mail\u0000@news.example>",
      "--b--",
    ),
  );
  expectWellFormed(read);
  expect(read.verdicts).toMatchObject([{ kind: "complaint", reason: "abuse", recipient: "ann@shop.example" }]);
});

test("any bytes and any damaged report yield a well-formed result", async () => {
  const pieces = fc.constantFrom(
    "Content-Type: multipart/report; boundary=b\r\n",
    "Content-Type: message/delivery-status\r\n",
    "Content-Type: message/feedback-report\r\n",
    "Content-Type: message/rfc822\r\n",
    "Content-Transfer-Encoding: base64\r\n",
    "Content-Transfer-Encoding: quoted-printable\r\n",
    "From: MAILER-DAEMON@mx.example\r\n",
    "Subject: failure notice\r\n",
    "Subject: =?iso-2022-jp?B?G$B=?= =?x?q?=ZZ?=\r\n",
    "X-Failed-Recipients: ann@shop.example\r\n",
    "Final-Recipient: rfc822; ann@shop.example\r\n",
    "Action: failed\r\n",
    "Status: 5.1.1\r\n",
    "Diagnostic-Code: smtp; 550 user unknown\r\n",
    "Feedback-Type: abuse\r\n",
    "<ann@shop.example>:\r\n",
    "550 5.1.1 user unknown\r\n",
    "--b\r\n",
    "--b--\r\n",
    "\r\n",
    "\r",
    "\n",
    "@",
    "\u0000",
  );
  const made = fc
    .array(fc.oneof(pieces, fc.string({ unit: "binary", maxLength: 20 })), { maxLength: 60 })
    .map((parts) => Buffer.from(parts.join("")));
  const whole = report(["Final-Recipient: rfc822; ann@shop.example", "Action: failed", "Status: 5.1.1"]);
  const damaged = fc
    .array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { maxLength: 30 })
    .map((changes) => changes.reduce((raw, [at, byte]) => raw.fill(byte, at, at + 1), Buffer.from(whole)));
  const bytes = fc.oneof(fc.uint8Array({ maxLength: 2_000 }), made, damaged);
  await fc.assert(
    fc.asyncProperty(bytes, async (raw) => expectWellFormed(await readReport(raw))),
    { numRuns: 300 },
  );
});
