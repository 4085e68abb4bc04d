/**
 * Measures CPU for parsing bounce reports by size, including hostile ones, compared with mailparser, which only parses
 * the MIME structure.
 *
 *     node test/bench reports [rounds=1000]
 *
 * Prints means after as many warm-up rounds; nothing passes or fails.
 */
import { simpleParser } from "mailparser";
import { readReport } from "../../services/bounces/reports/read-report.ts";
import { cpuMsOf } from "../support/cpu.ts";

const rounds = Number(process.argv[2] ?? 1_000);

function reportOf(bytes: number): Buffer {
  const head = [
    "Return-Path: <>",
    "From: Mail Delivery System <MAILER-DAEMON@mx.example>",
    "To: bounce+token@news.example",
    "Subject: Undelivered Mail Returned to Sender",
    "Content-Type: multipart/report; report-type=delivery-status; boundary=b",
    "",
    "--b",
    "Content-Type: text/plain; charset=us-ascii",
    "",
    "This is the mail system at host mx.example.",
    "",
    "<ann@shop.example>: host mx.shop.example[192.0.2.7] said: 550 5.1.1",
    "    <ann@shop.example>: Recipient address rejected: User unknown (in reply to RCPT TO command)",
    "--b",
    "Content-Type: message/delivery-status",
    "",
    "Reporting-MTA: dns; mx.example",
    "",
    "Final-Recipient: rfc822; ann@shop.example",
    "Action: failed",
    "Status: 5.1.1",
    "Diagnostic-Code: smtp; 550 5.1.1 <ann@shop.example>: Recipient address rejected: User unknown",
    "",
    "--b",
    "Content-Type: message/rfc822",
    "",
    "Message-ID: <mail-1@news.example>",
    "Content-Type: text/html; charset=utf-8",
    "",
    "",
  ].join("\r\n");
  const line = `<p>${"Six books for evenings. ".repeat(3)}</p>\r\n`;
  return Buffer.from(`${head}${line.repeat(Math.max(1, Math.ceil((bytes - head.length) / line.length)))}--b--\r\n`);
}

const SUBJECTS: [string, Buffer][] = [
  ["5 KB", reportOf(5_000)],
  ["100 KB", reportOf(100_000)],
  ["1 MB", reportOf(1_000_000)],
  ["50 MB", reportOf(50_000_000)],
  ["10,000 parts", Buffer.from(`Content-Type: multipart/mixed; boundary=b\n\n${"--b\n\nhi\n".repeat(10_000)}--b--`)],
  [
    "256 KB of one notice",
    Buffer.from(`From: mailer-daemon@a\nSubject: failure\n\n${"the user account ".repeat(16_000)}`),
  ],
];

/** Fewer rounds for large reports. */
const roundsFor = (bytes: number): number => Math.max(2, Math.min(rounds, Math.round((rounds * 200_000) / bytes)));

async function meanMs(work: () => Promise<unknown>, times: number): Promise<string> {
  const many = async () => {
    for (let round = 0; round < times; round += 1) await work();
  };
  try {
    await many();
    return ((await cpuMsOf(many)) / times).toFixed(3);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

console.log(`${"report".padEnd(24)}${"understood, ms".padStart(16)}${"mailparser, ms".padStart(40)}`);
for (const [name, raw] of SUBJECTS) {
  const times = roundsFor(raw.length);
  const own = await meanMs(() => readReport(raw), times);
  const theirs = await meanMs(() => simpleParser(raw, { skipTextToHtml: true, skipHtmlToText: true }), times);
  console.log(name.padEnd(24) + own.padStart(16) + theirs.padStart(40));
}
