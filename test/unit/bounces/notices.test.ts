import { readReport } from "../../../services/bounces/reports/read-report.ts";
import { notice, only, RETURNED } from "./mails.ts";

/** Dialect, headers, lines, expected kind, reason and recipient. */
const NOTICES: [string, string[], string[], string, string, string][] = [
  [
    "exim",
    [
      "From: Mail Delivery System <Mailer-Daemon@mx.example>",
      "X-Failed-Recipients: ann@shop.example",
      "Auto-Submitted: auto-replied",
      "Subject: Mail delivery failed: returning message to sender",
    ],
    [
      "This message was created automatically by mail delivery software.",
      "",
      "A message that you sent could not be delivered to one or more of its",
      "recipients. This is a permanent error. The following address(es) failed:",
      "",
      "  ann@shop.example",
      "    host mx.shop.example [192.0.2.7]",
      "    SMTP error from remote mail server after RCPT TO:<ann@shop.example>:",
      "    550 5.1.1 <ann@shop.example>: User unknown",
      "",
      "------ This is a copy of the message, including all the headers. ------",
      "",
      ...RETURNED,
    ],
    "hard",
    "mailbox-unknown",
    "ann@shop.example",
  ],
  [
    "qmail",
    ["From: MAILER-DAEMON@mx.example", "Subject: failure notice"],
    [
      "Hi. This is the qmail-send program at mx.example.",
      "I'm afraid I wasn't able to deliver your message to the following addresses.",
      "This is a permanent error; I've given up. Sorry it didn't work out.",
      "",
      "<ann@shop.example>:",
      "192.0.2.7 does not like recipient.",
      "Remote host said: 552 5.2.2 mailbox is full",
      "Giving up on 192.0.2.7.",
      "",
      "--- Below this line is a copy of the message.",
      "",
      ...RETURNED,
    ],
    "soft",
    "mailbox-full",
    "ann@shop.example",
  ],
  [
    "gmail",
    [
      "From: Mail Delivery Subsystem <mailer-daemon@googlemail.com>",
      "X-Failed-Recipients: ann@shop.example",
      "Subject: Delivery Status Notification (Failure)",
    ],
    [
      "Delivery to the following recipient failed permanently:",
      "",
      "     ann@shop.example",
      "",
      "Technical details of permanent failure:",
      "Google tried to deliver your message, but it was rejected by the server for the recipient domain shop.example.",
      "",
      "The error that the other server returned was:",
      "554 5.7.1 rejected, 192.0.2.9 is listed at zen.spamhaus.org",
      "",
      "----- Original message -----",
      "",
      ...RETURNED,
    ],
    "block",
    "blocked",
    "ann@shop.example",
  ],
  [
    "yahoo",
    ["From: MAILER-DAEMON@yahoo.com", "Subject: Failure Notice"],
    [
      "Sorry, we were unable to deliver your message to the following address.",
      "",
      "<ann@shop.example>:",
      "Remote host said: 550 5.1.1 <ann@shop.example>... User Unknown [RCPT_TO]",
      "",
      "--- Below this line is a copy of the message.",
      "",
      ...RETURNED,
    ],
    "hard",
    "mailbox-unknown",
    "ann@shop.example",
  ],
  [
    "aol",
    ["From: Mail Delivery Subsystem <MAILER-DAEMON@aol.com>", "Subject: Mail Delivery Problem"],
    [
      "Your mail to the following recipients could not be delivered because they are not accepting mail with attachments or embedded images:",
      "\tannbooks",
    ],
    "block",
    "content-refused",
    "annbooks@aol.com",
  ],
  [
    "postfix",
    ["From: MAILER-DAEMON@mx.example (Mail Delivery System)", "Subject: Undelivered Mail Returned to Sender"],
    [
      "This is the Postfix program at host mx.example.",
      "",
      "I'm sorry to have to inform you that the message returned",
      "below could not be delivered to one or more destinations.",
      "",
      "<ann@shop.example>: host mx.shop.example[192.0.2.7] said: 550 5.1.1",
      "    <ann@shop.example>: Recipient address rejected: User unknown (in reply to",
      "    RCPT TO command)",
    ],
    "hard",
    "mailbox-unknown",
    "ann@shop.example",
  ],
  [
    "sendmail",
    ["From: Mail Delivery Subsystem <MAILER-DAEMON@mx.example>", "Subject: Returned mail: Host unknown"],
    [
      "   ----- The following addresses had permanent fatal errors -----",
      "<ann@gone.example>",
      "",
      "   ----- Transcript of session follows -----",
      "550 <ann@gone.example>... Host unknown (Name server: gone.example: host not found)",
      "",
      "   ----- Unsent message follows -----",
      ...RETURNED,
    ],
    "hard",
    "domain-unknown",
    "ann@gone.example",
  ],
  [
    "exchange",
    [
      "From: System Administrator <postmaster@shop.example>",
      "Subject: Undeliverable: Six books",
      "X-Mailer: Internet Mail Service (5.5.2656.59)",
    ],
    [
      "Your message",
      "",
      "  To:      list@news.example",
      "  Subject: Six books",
      "  Sent:    Fri, 4 Oct 2024 17:10:56 -0400",
      "",
      "did not reach the following recipient(s):",
      "",
      "ann@shop.example on Fri, 4 Oct 2024 17:12:28 -0400",
      "    The recipient name is not recognized",
      "    MSEXCH:IMS:SHOP:BOOKS:MX 0 (000C05A6) Unknown Recipient",
    ],
    "hard",
    "mailbox-unknown",
    "ann@shop.example",
  ],
  [
    "office365",
    [
      "From: <MicrosoftExchange329e71ec88ae4615bbc36ab6ce41109e@shop.example>",
      "X-MS-Exchange-Message-Is-Ndr:",
      "Subject: Undeliverable: Six books",
    ],
    [
      "Your message to ann@shop.example couldn't be delivered.",
      "ann wasn't found at shop.example.",
      "Remote Server returned '550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup'",
    ],
    "hard",
    "mailbox-unknown",
    "ann@shop.example",
  ],
  [
    "domino",
    [
      "From: Postmaster@shop.example",
      "Subject: DELIVERY FAILURE: User ann (ann@shop.example) not listed in Domino Directory",
    ],
    [
      "Your message",
      "",
      "  Subject: Six books",
      "",
      "was not delivered to:",
      "",
      "  ann@shop.example",
      "",
      "because:",
      "",
      "  User ann (ann@shop.example) not listed in Domino Directory",
    ],
    "hard",
    "mailbox-unknown",
    "ann@shop.example",
  ],
  [
    "gmx",
    ["From: MAILER-DAEMON@mail.gmx.net", "Subject: Mail delivery failed: returning message to sender"],
    [
      "This message was created automatically by mail delivery software.",
      "",
      "A message that you sent could not be delivered to one or more of",
      "its recipients. This is a permanent error. The following address",
      "failed:",
      "",
      '"ann@shop.example":',
      "SMTP error from remote server after RCPT command:",
      "host: mx.shop.example",
      "5.2.2 <ann@shop.example>... Mailbox Full",
      "",
      "--- The header of the original message is following. ---",
      "",
      ...RETURNED,
    ],
    "soft",
    "mailbox-full",
    "ann@shop.example",
  ],
  [
    "mail.ru",
    [
      "From: mailer-daemon@corp.mail.ru",
      "X-Failed-Recipients: ann@mail.ru",
      "Content-Type: text/plain; charset=utf-8",
      "Subject: =?UTF-8?B?0JLQsNGI0LUg0YHQvtC+0LHRidC10L3QuNC1INC90LUg0LTQvtGB0YLQsNCy0LvQtdC90L4=?=",
    ],
    [
      "Это письмо создано автоматически сервером Mail.Ru, отвечать на него не нужно.",
      "",
      "К сожалению, Ваше письмо не может быть доставлено одному или нескольким получателям:",
      "",
      "  ann@mail.ru",
      "    550 Message was not accepted -- invalid mailbox.  Local mailbox ann@mail.ru is unavailable: user not found",
    ],
    "hard",
    "mailbox-unknown",
    "ann@mail.ru",
  ],
  [
    "zoho",
    ["From: mailer-daemon@mail.zoho.com", "X-Mailer: Zoho Mail", "Subject: Undelivered Mail Returned to Sender"],
    [
      "This message was created automatically by mail delivery software.",
      " A message that you sent could not be delivered to one or more of its recipients. This is a permanent error.",
      "",
      "ann@shop.example Invalid Address, ERROR_CODE :550, ERROR_CODE :5.1.1 <ann@shop.example>... User Unknown",
    ],
    "hard",
    "mailbox-unknown",
    "ann@shop.example",
  ],
  [
    "docomo",
    ["From: Mail Administrator <postmaster@mail.docomo.ne.jp>", "Subject: Mail System Error - Returned Mail"],
    [
      "This Message was undeliverable due to the following reason:",
      "",
      "Each of the following recipients was rejected by a remote mail server.",
      "    Recipient: <ann@docomo.ne.jp>",
      "    >>> DATA",
      "    <<< 550 Unknown user ann@docomo.ne.jp",
    ],
    "soft",
    "filtered",
    "ann@docomo.ne.jp",
  ],
  [
    "kddi",
    ["From: Postmaster@ezweb.ne.jp", "Subject: Mail System Error - Returned Mail"],
    ["The user(s) account is disabled.", "", "<ann@ezweb.ne.jp>: 550 user unknown (in reply to RCPT TO command)"],
    "hard",
    "mailbox-unknown",
    "ann@ezweb.ne.jp",
  ],
  [
    "opensmtpd",
    ["From: Mailer Daemon <MAILER-DAEMON@mx.example>", "Subject: Delivery status notification: error"],
    [
      "    Hi !",
      "",
      "    This is the MAILER-DAEMON, please DO NOT REPLY to this email.",
      "",
      "    An error has occurred while attempting to deliver a message for",
      "    the following list of recipients:",
      "",
      "ann@shop.example: 552 5.2.2 <ann@shop.example>: Mailbox full",
    ],
    "soft",
    "mailbox-full",
    "ann@shop.example",
  ],
  [
    "icloud",
    ["From: postmaster@icloud.com", "Subject: Delivery Notification: Delivery has failed"],
    [
      "This report relates to a message you sent with the following header fields:",
      "",
      "  Message-id: <mail-1@news.example>",
      "  From: News <news@news.example>",
      "  To: list@news.example",
      "  Subject: Six books",
      "",
      "Your message cannot be delivered to the following recipients:",
      "",
      "  Recipient address: ann@icloud.com",
      "  Reason: Remote SMTP server has rejected address",
      "  Diagnostic code: smtp;550 5.1.1 <ann@icloud.com>: user does not exist",
    ],
    "hard",
    "mailbox-unknown",
    "ann@icloud.com",
  ],
  [
    "m-filter",
    [
      "From: POSTMASTER <postmaster@shop.example>",
      "X-Mailer: m-FILTER",
      'Content-Type: text/plain; charset="UTF-8"',
      "Subject: failure notice",
    ],
    [
      "以下のメールアドレスへの送信に失敗しました。",
      "ann@shop.example",
      "-------server message",
      "550 unknown user <ann@shop.example>",
      "-------SMTP command",
      "RCPT TO",
    ],
    "hard",
    "mailbox-unknown",
    "ann@shop.example",
  ],
];

test.each(NOTICES)("a notice of %s is read", async (dialect, headers, lines, kind, reason, recipient) => {
  expect(await only(notice(headers, ...lines))).toMatchObject({ dialect, kind, reason, recipient });
});

test("the returned message pasted behind a notice yields its Message-ID but no recipient", async () => {
  const [, headers, lines] = NOTICES[0]!;
  const read = await readReport(notice(headers, ...lines));
  expect(read.returnedMessageId).toBe("mail-1@news.example");
  expect(read.verdicts.map(({ recipient }) => recipient)).toEqual(["ann@shop.example"]);
});

test("each recipient of a notice has its own verdict", async () => {
  const { verdicts } = await readReport(
    notice(
      ["From: MAILER-DAEMON@mx.example", "Subject: failure notice"],
      "Hi. This is the qmail-send program at mx.example.",
      "I'm afraid I wasn't able to deliver your message to the following addresses.",
      "",
      "<ann@shop.example>:",
      "Remote host said: 550 5.1.1 no such user",
      "",
      "<zoe@shop.example>:",
      "Remote host said: 552 5.2.2 mailbox full",
    ),
  );
  expect(verdicts.map(({ recipient, kind }) => [recipient, kind])).toEqual([
    ["ann@shop.example", "hard"],
    ["zoe@shop.example", "soft"],
  ]);
});

test("neither the sender nor a support address is taken for the recipient", async () => {
  const read = await only(
    notice(
      ["From: postmaster@shop.example", "Subject: Undeliverable mail"],
      "Your mail from bounce+token@news.example could not be delivered.",
      "For help write to <postmaster@shop.example>, or contact support@shop.example.",
      "",
      "Failed recipient: ann@shop.example",
      "Reason: 550 mailbox not found",
    ),
  );
  expect(read).toMatchObject({ kind: "hard", recipient: "ann@shop.example" });
});

test("if the notice names nobody, the returned message's recipient is used", async () => {
  const read = await only(
    notice(
      ["From: MAILER-DAEMON@mx.example", "Subject: Returned mail"],
      "Your message could not be delivered: 550 no such user",
      "",
      "--- Original message ---",
      ...RETURNED,
    ),
  );
  expect(read).toMatchObject({ kind: "hard", recipient: "ann@shop.example" });
});

test("an alias's target is reported beside the original address", async () => {
  const read = await only(
    notice(
      ["From: MAILER-DAEMON@mx.example", "Subject: Undelivered Mail Returned to Sender"],
      "This is the mail system at host mx.example.",
      "",
      "<ann@inside.example> (expanded from <ann@shop.example>): host inside.example said: 550 5.1.1 no such user",
    ),
  );
  expect(read.kind).toBe("hard");
  expect([read.recipient, ...(read.otherRecipients ?? [])].sort()).toEqual(["ann@inside.example", "ann@shop.example"]);
});

test("a notice in HTML alone is read", async () => {
  const read = await only(
    notice(
      ["From: postmaster@shop.example", "Subject: Undeliverable: Six books", "Content-Type: text/html; charset=utf-8"],
      "<html><head><style>p {color: red}</style></head><body><p>Delivery has failed to these recipients:</p>",
      '<p><a href="mailto:ann@shop.example">ann@shop.example</a></p><p>550 5.1.1 user unknown</p></body></html>',
    ),
  );
  expect(read).toMatchObject({ kind: "hard", recipient: "ann@shop.example" });
});

test("notices in ISO-2022-JP, windows-1251 and GB2312 are decoded", async () => {
  const read = async (charset: string, bytes: Buffer) =>
    only(
      Buffer.concat([
        notice(
          ["From: MAILER-DAEMON@mx.example", "Subject: failure notice", `Content-Type: text/plain; charset=${charset}`],
          "",
        ),
        bytes,
      ]),
    );
  // あて先不明, пользователь не найден, 用户不存在.
  const japanese = Buffer.concat([
    Buffer.from("<ann@shop.example>:\n"),
    Buffer.from("1b244224222446406849544c401b2842", "hex"),
  ]);
  expect(await read("iso-2022-jp", japanese)).toMatchObject({ kind: "hard", recipient: "ann@shop.example" });
  const russian = Buffer.from(
    "<ann@shop.example>:\n550 \xef\xee\xeb\xfc\xe7\xee\xe2\xe0\xf2\xe5\xeb\xfc \xed\xe5 \xed\xe0\xe9\xe4\xe5\xed",
    "latin1",
  );
  expect(await read("windows-1251", russian)).toMatchObject({ kind: "hard", reason: "mailbox-unknown" });
  const chinese = Buffer.concat([Buffer.from("<ann@shop.example>:\n550 "), Buffer.from("d3c3bba7b2bbb4e6d4da", "hex")]);
  expect(await read("gb2312", chinese)).toMatchObject({ kind: "hard", reason: "mailbox-unknown" });
});

test("Amazon's notifications by email are read", async () => {
  const notificationOf = (what: object) =>
    notice(
      ["From: SES <no-reply@sns.amazonaws.com>", "Subject: AWS Notification Message"],
      JSON.stringify(what),
      "--",
      "If you wish to stop …",
    );
  const bounced = [
    { emailAddress: "ann@shop.example", status: "5.1.1", diagnosticCode: "smtp; 550 5.1.1 user unknown" },
  ];
  const mail = { commonHeaders: { messageId: "<mail-1@news.example>" } };
  const bounce = notificationOf({ notificationType: "Bounce", bounce: { bouncedRecipients: bounced }, mail });
  expect((await readReport(bounce)).returnedMessageId).toBe("mail-1@news.example");
  expect(await only(bounce)).toMatchObject({
    kind: "hard",
    recipient: "ann@shop.example",
    statusCode: "5.1.1",
  });
  const complained = [{ emailAddress: "ann@shop.example" }];
  expect(
    await only(
      notificationOf({ notificationType: "Complaint", complaint: { complainedRecipients: complained }, mail }),
    ),
  ).toMatchObject({
    kind: "complaint",
    recipient: "ann@shop.example",
  });
  expect(await only(notificationOf({ notificationType: "Delivery", mail }))).toMatchObject({
    kind: "ignored",
    reason: "delivered",
  });
});
