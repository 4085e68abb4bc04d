/** Builders of reports as mail servers write them. */
import { readReport } from "../../../services/bounces/reports/read-report.ts";
import type { Report, Verdict } from "../../../services/bounces/verdict.ts";

export const mail = (...lines: string[]): Buffer => Buffer.from(lines.join("\r\n"));

export const RETURNED = [
  "Return-Path: <bounce+token@news.example>",
  "Message-ID: <mail-1@news.example>",
  "From: News <news@news.example>",
  "To: Ann <ann@shop.example>",
  "Subject: Six books",
  "",
  "Six books for evenings.",
];

/** Builds a multipart/report with the given recipient fields and readable text. */
export function report(fields: string[], words: string[] = ["Your mail came back."], headers: string[] = []): Buffer {
  return mail(
    "Return-Path: <>",
    "From: Mail Delivery System <MAILER-DAEMON@mx.example>",
    "To: bounce+token@news.example",
    "Subject: Undelivered Mail Returned to Sender",
    ...headers,
    'Content-Type: multipart/report; report-type=delivery-status; boundary="=_b"',
    "",
    "--=_b",
    "Content-Type: text/plain; charset=utf-8",
    "",
    ...words,
    "--=_b",
    "Content-Type: message/delivery-status",
    "",
    "Reporting-MTA: dns; mx.example",
    "",
    ...fields,
    "",
    "--=_b",
    "Content-Type: message/rfc822",
    "",
    ...RETURNED,
    "--=_b--",
    "",
  );
}

/** Builds a notice without a machine-readable part. */
export const notice = (headers: string[], ...lines: string[]): Buffer =>
  mail("To: bounce+token@news.example", ...headers, "", ...lines);

export async function only(raw: Uint8Array): Promise<Verdict & Pick<Report, "dialect">> {
  const { verdicts, dialect } = await readReport(raw);
  expect(verdicts).toHaveLength(1);
  return { ...verdicts[0]!, dialect };
}
