import { readReport } from "../../../services/bounces/reports/read-report.ts";
import { mail, notice, only, RETURNED, report } from "./mails.ts";

const FAILED = (status: string, diagnostic: string) => [
  "Final-Recipient: rfc822; ann@shop.example",
  "Action: failed",
  `Status: ${status}`,
  `Diagnostic-Code: smtp; ${diagnostic}`,
];

test("a report yields recipient, kind, code, the server's text, the returned Message-ID and its own recipients", async () => {
  const read = await readReport(
    report(
      FAILED(
        "5.1.1",
        "550 5.1.1 <ann@shop.example>: Recipient address rejected: User unknown in virtual\r\n mailbox table",
      ),
      ["This is the mail system at host mx.example."],
      ["Delivered-To: news@news.example"],
    ),
  );
  expect(read).toEqual({
    dialect: "postfix",
    returnedMessageId: "mail-1@news.example",
    addressedTo: ["bounce+token@news.example", "news@news.example"],
    verdicts: [
      {
        kind: "hard",
        reason: "mailbox-unknown",
        recipient: "ann@shop.example",
        statusCode: "5.1.1",
        diagnostic: "550 5.1.1 <ann@shop.example>: Recipient address rejected: User unknown in virtual mailbox table",
      },
    ],
  });
});

test.each([
  ["delayed", "4.4.1", "delayed"],
  ["Delayed (will retry)", "4.0.0", "delayed"],
  ["delivered", "2.1.5", "delivered"],
  ["relayed", "2.0.0", "delivered"],
  ["expanded", "2.0.0", "delivered"],
])("Action %s is not a bounce", async (action, status, reason) => {
  const read = await only(
    report(["Final-Recipient: rfc822; ann@shop.example", `Action: ${action}`, `Status: ${status}`]),
  );
  expect(read).toMatchObject({ kind: "ignored", reason, recipient: "ann@shop.example" });
});

test("the original address takes precedence over an alias's target, which is reported too", async () => {
  const read = await only(
    report([
      "Original-Recipient: rfc822;Ann+news@SHOP.example",
      "Final-Recipient: rfc822;ann@inside.example",
      "Action: failed",
      "Status: 5.2.2",
    ]),
  );
  expect(read).toMatchObject({
    kind: "soft",
    reason: "mailbox-full",
    recipient: "Ann+news@shop.example",
    otherRecipients: ["ann@inside.example"],
  });
});

describe("Action delayed", () => {
  const delayed = (diagnostic: string, words: string[] = []) =>
    only(
      report(
        [
          "Final-Recipient: rfc822; ann@shop.example",
          "Action: delayed",
          "Status: 4.4.7",
          ...(diagnostic ? [`Diagnostic-Code: smtp; ${diagnostic}`] : []),
        ],
        words,
      ),
    );

  test("is a bounce if the text says that the message expired", async () => {
    // OpenSMTPD's layout for an expired message.
    const words = [
      "    A message is delayed for more than 0 seconds for the following",
      "    list of recipients:",
      "",
      "ann@shop.example: Envelope expired",
      "",
      "    Please note that this is only a temporary failure report.",
      "    The message is kept in the queue for up to 7 days.",
    ];
    expect(await delayed("", words)).toMatchObject({
      kind: "soft",
      reason: "expired",
      recipient: "ann@shop.example",
      statusCode: "4.4.7",
      diagnostic: "ann@shop.example: Envelope expired",
    });
    expect(await delayed("400 4.4.7 Message expired")).toMatchObject({ kind: "soft", reason: "expired" });
  });

  test("is a bounce with any status, and without fields", async () => {
    const words = ["ann@shop.example: Envelope expired", "", "    You DO NOT NEED to re-send the message."];
    const fields = ["Final-Recipient: rfc822; ann@shop.example", "Action: delayed", "Status: 4.0.0"];
    expect(await only(report(fields, words))).toMatchObject({ kind: "soft", reason: "expired" });
    const bare = notice(["From: MAILER-DAEMON@mx.example", "Subject: Delivery status notification: delayed"], ...words);
    expect(await only(bare)).toMatchObject({ kind: "soft", reason: "expired", recipient: "ann@shop.example" });
  });

  test.each(["You DO NOT NEED to re-send the message to these recipients.", "The message will be re-sent for 4 days."])(
    "is not a bounce in OpenSMTPD's warning: %s",
    async (words) => {
      const read = await only(
        notice(
          ["From: MAILER-DAEMON@mx.example", "Subject: Delivery status notification"],
          "    This is the MAILER-DAEMON, please DO NOT REPLY to this e-mail.",
          "",
          "ann@shop.example: Network error on destination MXs",
          "",
          `    ${words}`,
        ),
      );
      expect(read).toMatchObject({ kind: "ignored", reason: "delayed", recipient: "ann@shop.example" });
    },
  );

  test.each([
    ["400 4.4.7 Message delayed", []],
    ["400 4.4.7 Delayed; the message expires in 2 days", []],
    ["", ["ann@shop.example: 451 4.4.7 Try again later", "", "The sender is notified when the message has expired."]],
  ])("is not a bounce where the server still tries: %s%s", async (diagnostic, words) => {
    expect(await delayed(diagnostic, words)).toMatchObject({ kind: "ignored", reason: "delayed" });
  });
});

test("each recipient has its own verdict, even if empty lines are missing or misplaced", async () => {
  const { verdicts } = await readReport(
    report([
      "Final-Recipient: rfc822; one@shop.example",
      "",
      "Action: failed",
      "Status: 5.1.1",
      "",
      "Final-Recipient: rfc822; two@shop.example",
      "Action: failed",
      "Status: 5.2.2",
      "Final-Recipient: rfc822; three@shop.example",
      "Action: delayed",
      "Status: 4.4.1",
    ]),
  );
  expect(verdicts.map(({ recipient, kind }) => [recipient, kind])).toEqual([
    ["one@shop.example", "hard"],
    ["two@shop.example", "soft"],
    ["three@shop.example", "ignored"],
  ]);
});

test("one report yields at most 100 verdicts", async () => {
  const fields = Array.from({ length: 500 }, (_, index) => [
    `Final-Recipient: rfc822; u${index}@shop.example`,
    "Action: failed",
    "Status: 5.1.1",
    "",
  ]).flat();
  const { verdicts } = await readReport(report(fields));
  expect(verdicts).toHaveLength(100);
});

test("internationalised addresses are read (RFC 6533), raw and escaped", async () => {
  const raw = await only(report(["Final-Recipient: utf-8; jörg@bücher.example", "Action: failed", "Status: 5.1.1"]));
  expect(raw.recipient).toBe("jörg@bücher.example");
  const escaped = await only(
    report(["Final-Recipient: utf-8; j\\x{F6}rg@b\\x{FC}cher.example", "Action: failed", "Status: 5.1.1"]),
  );
  expect(escaped.recipient).toBe("jörg@bücher.example");
});

test("a recipient without a domain is completed from the rest of the report", async () => {
  const read = await only(report(["Final-Recipient: x-local; ann", "Action: failed", "Status: 5.1.1"]));
  expect(read).toMatchObject({ kind: "hard", recipient: "ann@shop.example" });
});

test("if the fields say nothing, the transcript is used", async () => {
  const read = await only(
    report(
      ["Final-Recipient: rfc822; ann@shop.example", "Action: failed", "Status: 5.0.0"],
      [
        "   ----- The following addresses had permanent fatal errors -----",
        "<ann@shop.example>",
        "   ----- Transcript of session follows -----",
        ">>> RCPT To:<ann@shop.example>",
        "<<< 552 5.2.2 The email account is over quota",
      ],
    ),
  );
  expect(read).toMatchObject({ kind: "soft", reason: "mailbox-full", statusCode: "5.2.2" });
  expect(read.diagnostic).toBe("552 5.2.2 The email account is over quota");
});

test("fields that a gateway converted to text are read", async () => {
  const read = await only(
    mail(
      "From: postmaster@gateway.example",
      "To: bounce+token@news.example",
      "Subject: Delivery failure",
      "",
      "Reporting-MTA: dns; mx.example",
      "",
      "Final-Recipient: rfc822; ann@shop.example",
      "Action: failed",
      "Status: 5.1.1",
      "Diagnostic-Code: smtp; 550 5.1.1 no such user",
    ),
  );
  expect(read).toMatchObject({ kind: "hard", recipient: "ann@shop.example", statusCode: "5.1.1" });
});

test("a report that a filter wrapped in another message is read, and its token kept", async () => {
  const inner = report(FAILED("5.1.1", "550 no such user")).toString();
  const read = await readReport(
    mail(
      "From: filter@gateway.example",
      "To: bounce+outer@news.example",
      'Content-Type: multipart/mixed; boundary="outer"',
      "",
      "--outer",
      "Content-Type: message/rfc822",
      "",
      inner,
      "--outer--",
    ),
  );
  expect(read.addressedTo).toEqual(["bounce+outer@news.example"]);
  expect(read.returnedMessageId).toBe("mail-1@news.example");
  expect(read.verdicts).toMatchObject([{ kind: "hard", recipient: "ann@shop.example" }]);
});

test("a boundary other than the announced one is found", async () => {
  const raw = report(FAILED("5.2.2", "552 mailbox full")).toString().replace('boundary="=_b"', 'boundary="rewritten"');
  expect(await only(Buffer.from(raw))).toMatchObject({ kind: "soft", recipient: "ann@shop.example" });
});

test.each(["\n", "\r", "\r\n"])("line ends %j make no difference", async (end) => {
  const raw = report(FAILED("5.1.1", "550 no such user")).toString().replaceAll("\r\n", end);
  expect(await only(Buffer.from(raw))).toMatchObject({ kind: "hard", recipient: "ann@shop.example" });
});

test.each([
  ["base64", (text: string) => Buffer.from(text).toString("base64")],
  ["quoted-printable", (text: string) => text.replaceAll("=", "=3D").replaceAll("Status: 5", "Sta=\r\ntus: =35")],
])("a status part in %s is read", async (encoding, encode) => {
  const fields = FAILED("5.1.1", "550 no such user").join("\r\n");
  const raw = mail(
    "From: MAILER-DAEMON@mx.example",
    "Content-Type: multipart/report; boundary=b",
    "",
    "--b",
    "Content-Type: message/delivery-status",
    `Content-Transfer-Encoding: ${encoding}`,
    "",
    encode(fields),
    "--b--",
  );
  expect(await only(raw)).toMatchObject({ kind: "hard", recipient: "ann@shop.example", statusCode: "5.1.1" });
});

test.each([
  ["message/rfc822", RETURNED],
  ["text/rfc822-headers", RETURNED.slice(0, 5)],
  ["message/global-headers", RETURNED.slice(0, 5)],
])("the returned Message-ID is found in %s", async (type, lines) => {
  const raw = report(FAILED("5.1.1", "550 no such user"))
    .toString()
    .replace(
      `Content-Type: message/rfc822\r\n\r\n${RETURNED.join("\r\n")}`,
      `Content-Type: ${type}\r\n\r\n${lines.join("\r\n")}`,
    );
  expect((await readReport(Buffer.from(raw))).returnedMessageId).toBe("mail-1@news.example");
});

test("a report without the returned message has its Message-ID in References or the text", async () => {
  const cut = (raw: Buffer) => Buffer.from(raw.toString().split("--=_b\r\nContent-Type: message/rfc822")[0]!);
  const referred = cut(report(FAILED("5.1.1", "550"), ["Sorry."], ["References: <mail-2@news.example>"]));
  expect((await readReport(referred)).returnedMessageId).toBe("mail-2@news.example");
  const named = cut(report(FAILED("5.1.1", "550"), ["Message ID: <mail-3@news.example>"]));
  expect((await readReport(named)).returnedMessageId).toBe("mail-3@news.example");
  expect((await readReport(cut(report(FAILED("5.1.1", "550"))))).returnedMessageId).toBeNull();
});

test("a diagnostic is one line of at most 1,000 characters", async () => {
  const { diagnostic } = await only(report(FAILED("5.7.1", `550 ${"spam ".repeat(2_000)}`)));
  expect(diagnostic).toHaveLength(1_000);
  expect(diagnostic).not.toMatch(/\n/);
});
