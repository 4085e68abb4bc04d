import { readReport } from "../../../services/bounces/reports/read-report.ts";
import { mail, only, RETURNED } from "./mails.ts";

const feedback = (fields: string[], returned: string[] = RETURNED) =>
  mail(
    "From: <fbl@provider.example>",
    "To: abuse@news.example",
    "Subject: Email Feedback Report for IP 192.0.2.1",
    'Content-Type: multipart/report; report-type=feedback-report; boundary="b"',
    "",
    "--b",
    "Content-Type: text/plain",
    "",
    "This is an email abuse report for an email message received from IP 192.0.2.1.",
    "--b",
    "Content-Type: message/feedback-report",
    "",
    ...fields,
    "",
    "--b",
    "Content-Type: message/rfc822",
    "",
    ...returned,
    "--b--",
  );

test("a feedback report (RFC 5965) is a complaint of its Original-Rcpt-To, and names the returned mail", async () => {
  const read = await readReport(
    feedback(["Feedback-Type: abuse", "User-Agent: Some/1.0", "Version: 1", "Original-Rcpt-To: <Ann@SHOP.example>"]),
  );
  expect(read).toMatchObject({
    dialect: "arf",
    returnedMessageId: "mail-1@news.example",
    addressedTo: ["abuse@news.example"],
  });
  expect(read.verdicts).toEqual([
    { kind: "complaint", reason: "abuse", recipient: "Ann@shop.example", statusCode: null, diagnostic: null },
  ]);
});

test("a report without Original-Rcpt-To is attributed to the returned mail's To", async () => {
  expect(await only(feedback(["Feedback-Type: abuse", "Version: 1"]))).toMatchObject({
    kind: "complaint",
    recipient: "ann@shop.example",
  });
});

test("a hidden recipient is null, and the returned Message-ID stays", async () => {
  const hidden = RETURNED.map((line) => line.replace("Ann <ann@shop.example>", "redacted@provider.example"));
  const read = await readReport(
    feedback(["Feedback-Type: abuse", "Original-Rcpt-To: redacted@provider.example"], hidden),
  );
  expect(read.verdicts).toMatchObject([{ kind: "complaint", recipient: null }]);
  expect(read.returnedMessageId).toBe("mail-1@news.example");
});

test("a report of several recipients is a complaint of each", async () => {
  const { verdicts } = await readReport(
    feedback(["Feedback-Type: abuse", "Original-Rcpt-To: ann@shop.example", "Original-Rcpt-To: zoe@shop.example"]),
  );
  expect(verdicts.map(({ recipient }) => recipient)).toEqual(["ann@shop.example", "zoe@shop.example"]);
});

test.each(["abuse", "fraud", "virus", "opt-out", "opt-out-list", "other"])(
  "Feedback-Type %s is a complaint",
  async (type) => {
    expect(await only(feedback([`Feedback-Type: ${type}`]))).toMatchObject({ kind: "complaint", reason: type });
  },
);

test.each([
  ["not-spam", "not-spam"],
  ["auth-failure", "authentication-report"],
])("Feedback-Type %s is not a complaint", async (type, reason) => {
  expect(await only(feedback([`Feedback-Type: ${type}`]))).toMatchObject({ kind: "ignored", reason });
});

test("Outlook.com's complaint is the returned mail alone, and a field of it names the recipient", async () => {
  const read = await only(
    mail(
      "From: staff@hotmail.com",
      "To: fbl@news.example",
      "Subject: complaint about message from 192.0.2.1",
      "Content-Type: multipart/mixed; boundary=b",
      "",
      "--b",
      "Content-Type: message/rfc822",
      "",
      "X-HmXmrOriginalRecipient: ann@hotmail.com",
      ...RETURNED,
      "--b--",
    ),
  );
  expect(read).toMatchObject({ kind: "complaint", recipient: "ann@hotmail.com", dialect: "jmrp" });
});
