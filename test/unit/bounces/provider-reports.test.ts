/** Events as each provider documents them: recipients and meaning. */
import { readBrevo } from "../../../services/bounces/providers/brevo.ts";
import type { ProviderEvent } from "../../../services/bounces/providers/event.ts";
import { readMailgun } from "../../../services/bounces/providers/mailgun.ts";
import { readPostmark } from "../../../services/bounces/providers/postmark.ts";
import { readSendgrid } from "../../../services/bounces/providers/sendgrid.ts";
import { readSes } from "../../../services/bounces/providers/ses.ts";
import { readSparkpost } from "../../../services/bounces/providers/sparkpost.ts";

const verdictsOf = (events: ProviderEvent[]) =>
  events.flatMap(({ report }) => report.verdicts.map(({ kind, recipient }) => `${kind} ${recipient}`));
const only = (events: ProviderEvent[]) => {
  expect(events).toHaveLength(1);
  return events[0]!.report;
};

const HOSTILE: readonly unknown[] = [
  null,
  1,
  "text",
  [],
  {},
  [null, [], 7, { event: {} }, { msys: [] }, { msys: { message_event: null } }],
  { "event-data": [] },
  { notificationType: "Bounce", bounce: { bouncedRecipients: [null, 3, {}] }, mail: 5 },
  { Type: { toString: 1 }, RecordType: [] },
  JSON.parse('{"__proto__": {"event": "spam"}, "event": "constructor", "email": "x@y.example"}'),
  [{ event: "bounce", email: "no address", type: "bounce" }],
];

test.each([
  ["ses", readSes],
  ["sendgrid", readSendgrid],
  ["mailgun", readMailgun],
  ["postmark", readPostmark],
  ["sparkpost", readSparkpost],
  ["brevo", readBrevo],
] as const)("%s: what has another shape is ignored and breaks nothing", (_name, read) => {
  for (const body of HOSTILE) expect(read(body)).toEqual([]);
});

describe("Amazon SES", () => {
  const mail = {
    timestamp: "2026-11-20T10:00:00.000Z",
    messageId: "010001949a8b-0000",
    source: "bounces+k3ww@news.acme.example",
    destination: ["ann@example.com"],
    headers: [{ name: "Message-ID", value: "<abc.1@acme.example>" }],
    commonHeaders: { messageId: "<other@acme.example>" },
  };
  const bounce = (bounceType: string, bounceSubType: string, ...emails: string[]) => ({
    notificationType: "Bounce",
    bounce: {
      bounceType,
      bounceSubType,
      bouncedRecipients: emails.map((emailAddress) => ({
        emailAddress,
        action: "failed",
        status: "5.1.1",
        diagnosticCode: "smtp; 550 5.1.1 user\r\nunknown",
      })),
    },
    mail,
  });

  test("a bounce names each recipient, its code and text, and the message", () => {
    const report = only(readSes(bounce("Permanent", "General", "Ann <ann@EXAMPLE.com>", "bo@example.org")));
    expect(report).toEqual({
      verdicts: ["ann@example.com", "bo@example.org"].map((recipient) => ({
        kind: "hard",
        reason: "mailbox-unknown",
        recipient,
        statusCode: "5.1.1",
        diagnostic: "smtp; 550 5.1.1 user unknown",
      })),
      returnedMessageId: "abc.1@acme.example",
      addressedTo: ["bounces+k3ww@news.acme.example"],
      dialect: "ses",
    });
  });

  test.each([
    ["Permanent", "Suppressed", "hard"],
    ["Permanent", "OnAccountSuppressionList", "hard"],
    ["Permanent", "SomethingNew", "hard"],
    ["Transient", "MailboxFull", "soft"],
    ["Transient", "MessageTooLarge", "soft"],
    ["Transient", "General", "hard"],
    ["Transient", "ContentRejected", "block"],
    ["Undetermined", "Undetermined", "hard"],
  ])("maps %s/%s to %s", (type, subtype, kind) => {
    expect(verdictsOf(readSes(bounce(type, subtype, "ann@example.com")))).toEqual([`${kind} ann@example.com`]);
  });

  test.each([
    ["5.4.4", "smtp; 550 5.4.4 Invalid domain", "hard domain-unknown"],
    ["5.1.1", "smtp; 550 5.1.1 No such user here", "hard mailbox-unknown"],
    ["5.3.0", "smtp; 550 permanent failure, mailbox unavailable", "soft temporary-failure"],
    ["5.7.1", "smtp; 550 5.7.1 Blocked, see our policy", "block blocked"],
    ["5.2.1", "smtp; 550 5.2.1 Mailbox temporarily disabled", "soft mailbox-suspended"],
    ["4.4.7", "smtp; 450 4.4.7 Message expired", "soft temporary-failure"],
  ])("maps Transient/General by the server's answer %s %s: %s", (status, diagnosticCode, verdict) => {
    const bouncedRecipients = [{ emailAddress: "ann@example.com", action: "failed", status, diagnosticCode }];
    const body = {
      notificationType: "Bounce",
      bounce: { ...bounce("Transient", "General").bounce, bouncedRecipients },
      mail,
    };
    const { kind, reason } = only(readSes(body)).verdicts[0]!;
    expect(`${kind} ${reason}`).toBe(verdict);
  });

  test("a permanent bounce whose answer names a filter is a block", () => {
    const bouncedRecipients = [
      { emailAddress: "ann@example.com", status: "5.7.1", diagnosticCode: "smtp; 554 5.7.1 blocked using a DNSBL" },
    ];
    const body = {
      notificationType: "Bounce",
      bounce: { ...bounce("Permanent", "General").bounce, bouncedRecipients },
      mail,
    };
    expect(verdictsOf(readSes(body))).toEqual(["block ann@example.com"]);
  });

  test("reads a complaint, also as an event of a configuration set; a message that Amazon did not send is ignored", () => {
    const complaint = { complainedRecipients: [{ emailAddress: "ann@example.com" }], complaintFeedbackType: "abuse" };
    expect(verdictsOf(readSes({ eventType: "Complaint", complaint, mail }))).toEqual(["complaint ann@example.com"]);
    for (const complaintFeedbackType of ["not-spam", "auth-failure"]) {
      expect(readSes({ eventType: "Complaint", complaint: { ...complaint, complaintFeedbackType }, mail })).toEqual([]);
    }
    const listed = { ...complaint, complaintSubType: "OnAccountSuppressionList" };
    expect(verdictsOf(readSes({ notificationType: "Complaint", complaint: listed, mail }))).toEqual([
      "hard ann@example.com",
    ]);
  });

  test("deliveries, opens and delays are ignored", () => {
    for (const notificationType of ["Delivery", "Open", "DeliveryDelay", "AmazonSnsSubscriptionSucceeded"])
      expect(readSes({ notificationType, mail })).toEqual([]);
  });
});

describe("SendGrid", () => {
  const event = { email: "ann@example.com", timestamp: 1_763_632_800, "smtp-id": "<abc.1@acme.example>" };
  const bounce = { ...event, event: "bounce", type: "bounce", status: "5.0.0", reason: "550 no such user" };

  test("several events per request keep their order; invalid ones are skipped", () => {
    const body = [
      { ...event, event: "delivered", response: "250 OK" },
      "what is this",
      { ...bounce, email: "one@example.com" },
      { ...event, event: "spamreport", email: "two@example.com" },
      { ...event, event: "bounce", email: null },
      { ...bounce, type: "blocked", status: "5.7.1", reason: "550 5.7.1 policy", email: "three@example.com" },
    ];
    const events = readSendgrid(body);
    expect(verdictsOf(events)).toEqual([
      "hard one@example.com",
      "complaint two@example.com",
      "block three@example.com",
    ]);
    expect(events[0]!.report.returnedMessageId).toBe("abc.1@acme.example");
    expect(JSON.parse(events[0]!.raw)).toMatchObject({ event: "bounce", email: "one@example.com" });
  });

  test.each([
    [{ bounce_classification: "Invalid Address" }, "hard"],
    [{ bounce_classification: "Mailbox Unavailable", status: "5.2.1" }, "hard"],
    [{ bounce_classification: "Mailbox Unavailable", status: "5.0.0", reason: "550 refused" }, "soft"],
    [{ status: "5.7.1", reason: "550 5.7.1 refused by policy" }, "block"],
    [{ bounce_classification: "Reputation", type: "blocked" }, "block"],
    [{ bounce_classification: "Content" }, "block"],
    [{ bounce_classification: "Unclassified" }, "hard"],
    [{ status: "5.2.2", reason: "552 5.2.2 mailbox full" }, "soft"],
    [{ event: "dropped", reason: "Bounced Address" }, "hard"],
    [{ event: "dropped", reason: "Spam Reporting Address" }, "hard"],
    [{ event: "dropped", reason: "Unsubscribed Address" }, "block"],
    [{ event: "dropped", reason: "Invalid SMTPAPI header" }, "hard"],
  ] as const)("%j is %s", (fields, kind) => {
    expect(verdictsOf(readSendgrid([{ ...bounce, ...fields }]))).toEqual([`${kind} ann@example.com`]);
  });

  test("deferrals are ignored", () => {
    expect(readSendgrid([{ ...event, event: "deferred", response: "451 later" }])).toEqual([]);
  });
});

describe("Mailgun", () => {
  const failed = (fields: object, status: object = {}) => ({
    signature: { timestamp: "1", token: "t", signature: "s" },
    "event-data": {
      event: "failed",
      severity: "permanent",
      reason: "bounce",
      recipient: "ann@example.com",
      envelope: { sender: "bounces+k3ww@news.acme.example", targets: "ann@example.com" },
      message: { headers: { "message-id": "abc.1@acme.example" } },
      "delivery-status": { code: 550, message: "5.1.1 No such user", description: "", ...status },
      ...fields,
    },
  });

  test("a permanent failure names recipient, code, text and message", () => {
    expect(only(readMailgun(failed({})))).toEqual({
      verdicts: [
        {
          kind: "hard",
          reason: "mailbox-unknown",
          recipient: "ann@example.com",
          statusCode: "5.1.1",
          diagnostic: "5.1.1 No such user",
        },
      ],
      returnedMessageId: "abc.1@acme.example",
      addressedTo: ["bounces+k3ww@news.acme.example"],
      dialect: "mailgun",
    });
  });

  test.each([
    [{ reason: "suppress-bounce" }, { code: 605, message: "" }, "hard"],
    [{ reason: "suppress-complaint" }, { code: 607, message: "" }, "hard"],
    [{ reason: "suppress-unsubscribe" }, { code: 606, message: "" }, "block"],
    [{}, { code: 550, message: "no mailbox here" }, "hard"],
    [{}, { code: 552, message: "5.2.2 over quota" }, "soft"],
    [{}, { code: 550, message: "5.7.1 refused" }, "block"],
    [{ reason: "generic" }, { code: 554, message: "refused" }, "block"],
    [{ event: "complained" }, { code: 0, message: "" }, "complaint"],
  ] as const)("%j %j is %s", (fields, status, kind) => {
    expect(verdictsOf(readMailgun(failed(fields, status)))).toEqual([`${kind} ann@example.com`]);
  });

  test("temporary failures and deliveries are ignored", () => {
    expect(readMailgun(failed({ severity: "temporary" }))).toEqual([]);
    expect(readMailgun(failed({ event: "delivered" }))).toEqual([]);
  });
});

describe("Postmark", () => {
  const bounce = {
    RecordType: "Bounce",
    ID: 4_323_372_036,
    Type: "HardBounce",
    TypeCode: 1,
    MessageID: "883953f4-6105-42a2-a16a-77a8eac79483",
    Description: "The server was unable to deliver your message",
    Details: "smtp;550 5.1.1 unknown",
    Email: "ann@example.com",
    From: "news@acme.example",
  };

  test.each([
    ["HardBounce", "hard"],
    ["BadEmailAddress", "hard"],
    ["SoftBounce", "hard"],
    ["Blocked", "block"],
    ["SpamNotification", "block"],
    ["DMARCPolicy", "block"],
    ["SpamComplaint", "complaint"],
  ])("maps %s to %s", (Type, kind) => {
    expect(verdictsOf(readPostmark({ ...bounce, Type }))).toEqual([`${kind} ann@example.com`]);
  });

  test.each(["SoftBounce", "DnsError", "Undeliverable"])("maps %s without a telling answer to soft", (Type) => {
    expect(verdictsOf(readPostmark({ ...bounce, Type, Details: "smtp;450 try later" }))).toEqual([
      "soft ann@example.com",
    ]);
  });

  test("reads the record type of spam complaints", () => {
    const body = { ...bounce, RecordType: "SpamComplaint", Type: "SpamComplaint", TypeCode: 512 };
    expect(verdictsOf(readPostmark(body))).toEqual(["complaint ann@example.com"]);
  });

  test("the message's own id is read from a dump of the bounce, if included", () => {
    expect(only(readPostmark(bounce)).returnedMessageId).toBeNull();
    const Content = "Message-ID: <dsn@mx.example>\r\n\r\nReturned:\r\nMessage-ID: <abc.1@acme.example>\r\n";
    expect(only(readPostmark({ ...bounce, Content })).returnedMessageId).toBe("abc.1@acme.example");
  });

  test.each(["Transient", "AutoResponder", "ChallengeVerification", "AddressChange", "Subscribe"])(
    "%s is ignored",
    (Type) => {
      expect(readPostmark({ ...bounce, Type })).toEqual([]);
    },
  );

  test("another record type is ignored", () => {
    expect(readPostmark({ ...bounce, RecordType: "Delivery" })).toEqual([]);
  });
});

describe("SparkPost", () => {
  const item = (fields: object) => ({
    msys: {
      message_event: {
        type: "bounce",
        bounce_class: "10",
        error_code: "550",
        rcpt_to: "ann@example.com",
        raw_rcpt_to: "ann@example.com",
        msg_from: "bounces+k3ww@news.acme.example",
        message_id: "000443ee14578172be22",
        raw_reason: "550 5.1.1 no such user",
        reason: "550 5.1.1 no such user",
        ...fields,
      },
    },
  });

  test("a batch with a ping and an unsubscription yields every bounce and complaint", () => {
    const events = readSparkpost([
      { msys: {} },
      item({}),
      { msys: { unsubscribe_event: { type: "list_unsubscribe", rcpt_to: "ann@example.com" } } },
      { msys: { track_event: { type: "open", rcpt_to: "ann@example.com" } } },
      item({ type: "spam_complaint", raw_rcpt_to: undefined, rcpt_to: "two@example.com" }),
    ]);
    expect(verdictsOf(events)).toEqual(["hard ann@example.com", "complaint two@example.com"]);
    expect(events[0]!.report).toMatchObject({
      returnedMessageId: null,
      addressedTo: ["bounces+k3ww@news.acme.example"],
    });
  });

  test.each([
    ["22", "soft"],
    ["23", "soft"],
    ["51", "block"],
    ["54", "block"],
    ["30", "hard"],
    [30, "hard"],
    ["1", "hard"],
  ])("maps class %s to %s", (bounce_class, kind) => {
    expect(verdictsOf(readSparkpost([item({ bounce_class })]))).toEqual([`${kind} ann@example.com`]);
  });

  test.each([
    [{ type: "delay" }],
    [{ type: "delivery" }],
    [{ type: "out_of_band", bounce_class: "60" }],
    [{ type: "out_of_band", bounce_class: "100" }],
  ])("ignores %j", (fields) => {
    expect(readSparkpost([item(fields)])).toEqual([]);
  });
});

describe("Brevo", () => {
  const event = {
    event: "hard_bounce",
    email: "ann@example.com",
    id: 1,
    "message-id": "<abc.1@acme.example>",
    reason: "550 5.1.1 no such user",
  };

  test.each([
    ["hard_bounce", "hard"],
    ["hardBounce", "hard"],
    ["invalid_email", "hard"],
    ["soft_bounce", "hard"],
    ["blocked", "block"],
    ["error", "block"],
    ["spam", "complaint"],
    ["complaint", "complaint"],
  ])("maps %s to %s", (name, kind) => {
    expect(verdictsOf(readBrevo({ ...event, event: name }))).toEqual([`${kind} ann@example.com`]);
  });

  test("one event, or a batch of them", () => {
    expect(only(readBrevo(event)).returnedMessageId).toBe("abc.1@acme.example");
    const batch = [
      event,
      { ...event, event: "delivered" },
      null,
      { ...event, event: "spam", email: "two@example.com" },
    ];
    expect(verdictsOf(readBrevo(batch))).toEqual(["hard ann@example.com", "complaint two@example.com"]);
  });

  test("a full mailbox is distinguished", () => {
    const [{ report }] = readBrevo({ ...event, event: "soft_bounce", reason: "552 5.2.2 mailbox full" }) as [
      ProviderEvent,
    ];
    expect(report.verdicts[0]).toMatchObject({ kind: "soft", reason: "mailbox-full" });
  });

  test.each(["deferred", "delivered", "unsubscribed", "unique_opened"])("ignores %s", (name) => {
    expect(readBrevo({ ...event, event: name })).toEqual([]);
  });
});
