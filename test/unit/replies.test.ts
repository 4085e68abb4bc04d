/**
 * One table for every source: the meaning of a refusal in a session, in a delivery report and in a provider's event.
 */
import { readSes } from "../../services/bounces/providers/ses.ts";
import { classify } from "../../services/lib/replies/classify.ts";
import { replyCodeIn, statusCodeIn } from "../../services/lib/replies/codes.ts";
import { bounceKindOf, MEANINGS, type Meaning } from "../../services/lib/replies/meanings.ts";
import { MAX_TRIES } from "../../services/smtp-sender/delivery/back-off.ts";
import { outcomeOf } from "../../services/smtp-sender/delivery/outcome.ts";
import { type Reply, ReplyReader } from "../../services/smtp-sender/smtp/replies.ts";
import { only, report } from "./bounces/mails.ts";

/** Postfix, Exim, sendmail, qmail, OpenSMTPD, Exchange, Gmail, Yahoo, Outlook.com, Domino and others. */
const REFUSALS: Partial<Record<Meaning, string[]>> = {
  "mailbox-unknown": [
    "550 5.1.1 User unknown",
    "550 No such user here",
    "550 Unknown user",
    "550 unknown recipient <ann@example.org>",
    "550 ann@example.org: Recipient not found",
    "550 Invalid recipient",
    "550 ann@example.org... User doesn't exist",
    "551 User not local",
    "550 Unrouteable address",
    "553 5.1.3 Bad address syntax",
    "550 5.1.0 Address rejected.",
    "550 5.1.1 xyz",
    "550 5.1.1 sorry, no mailbox here by that name. (#5.1.1)",
    "511 sorry, no mailbox here by that name (#5.1.1 - chkuser)",
    "550 5.1.1 <ann@shop.example>: Recipient address rejected: User unknown in local recipient table",
    "550 5.1.1 <spam.filter@blocked.example>: no such user",
    "550 5.1.1 no such user, see https://mx.example/help/spam-blocked#quota",
    "550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup",
    "550-5.1.1 The email account that you tried to reach does not exist. Please try double-checking",
    "554 delivery error: dd This user doesn't have a yahoo.com account (ann@yahoo.com) [0]",
    "550 5.4.1 Recipient address rejected: Access denied. [AM.prod.protection.outlook.com]",
    "550 5.1.1 User bob not listed in Domino Directory",
    "User ann (ann@shop.example) not listed in Domino Directory",
    "550 5.2.0 No such user",
    "550 Empfänger unbekannt: Empfängeradresse existiert nicht",
    "550 L'adresse de messagerie n'existe pas: utilisateur inconnu",
    "550 El usuario no existe",
    "550 Пользователь не найден",
  ],
  "mailbox-unavailable": ["550 Requested action not taken: mailbox unavailable", "550 5.5.0 mailbox unavailable"],
  "mailbox-moved": ["551 5.1.6 User has moved to another place", "550 5.1.6 Mailbox has moved"],
  "mailbox-disabled": [
    "550 5.2.1 Mailbox disabled",
    "550 5.2.1 The email account that you tried to reach is disabled",
    "550 5.2.1 xyz",
    "550 This account has been disabled",
    "550 The recipient's mailbox is no longer active",
    "550 5.1.1 <ann@shop.example>: inactive email address",
  ],
  "domain-unknown": [
    "550 5.1.2 Host unknown (Authoritative answer from name server)",
    "550 5.1.2 Bad destination system",
    "550 <ann@gone.example>... Host unknown (Name server: gone.example: host not found)",
    "550 5.4.4 Invalid domain",
    "Host or domain name not found. Name service error for name=gone.example type=MX: Host not found",
    "Sorry, I couldn't find any host named gone.example. (#5.1.2)",
  ],
  "accepts-no-mail": ["Domain gone.example does not accept mail (nullMX)", "556 5.1.10 Recipient address has null MX"],

  "mailbox-full": [
    "552 5.2.2 mailbox full",
    "552 Requested action aborted",
    "552 Requested mail action aborted: exceeded storage allocation",
    "552 5.2.2 xyz",
    "552 sorry, the mailbox is full",
    "550 User is over quota",
    "452 4.2.2 The email account that you tried to reach is over quota",
    "450 The user's mailbox is full",
    "552 5.2.2 <ann@shop.example> Quota exceeded (mailbox for user is full)",
    "550 Benutzer hat zuviele Mails auf dem Server. / User has too many messages on the server.",
    "maildrop: maildir over quota.",
    "550 Espacio en casilla de mail agotado.",
  ],
  "mailbox-suspended": [
    "550 5.2.1 Mailbox temporarily disabled",
    "550 5.2.1 Account disabled, temporarily not accepting messages",
    "550 5.2.1 Not accepting mail at this time",
    "550 The user's account is suspended",
    "550 5.5.0 The recipient account is blocked. LPN007_426",
  ],
  "mailbox-status": ["550 5.2.0 xyz", "550 5.2.4 xyz", "450 4.2.1 xyz", "450 4.2.0 mailbox unavailable"],
  "too-large": [
    "552 5.3.4 Message size exceeds fixed limit",
    "552 5.2.3 Message length exceeds administrative limit",
    "message size 20480123 exceeds size limit 10240000 of server mx.shop.example[192.0.2.7]",
  ],

  blocked: [
    "554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org",
    "550 5.1.1 rejected, listed at Spamhaus",
    "550 5.1.1 Your address is listed in bl.sorbs.example",
    "550 5.2.0 Refused, IP on a DNSBL",
    "550 rejected, see https://www.spamhaus.org/query/ip/192.0.2.1",
    "550 Access denied - Invalid HELO name",
  ],
  spam: [
    "550 5.7.1 Our system has detected that this message is likely unsolicited mail",
    "554 Message looks like spam",
  ],
  virus: ["554 5.7.1 Virus Eicar-Test found"],
  authentication: [
    "550 5.7.26 This mail has been blocked because the sender is unauthenticated",
    "550 5.7.26 Unauthenticated mail is not accepted due to the domain's DMARC policy",
    "550 5.7.25 The IP address sending this message does not have a PTR record",
    "550 No reverse DNS entry for your host",
  ],
  // A server gives these for each recipient, so one of them must never suppress a list.
  "sender-refused": [
    "550 5.1.8 <a@b.example>: Sender address rejected: Domain not found",
    "553 5.1.7 Bad sender's mailbox address syntax",
    "550 5.1.0 <a@b.example>: Sender address rejected: User unknown in virtual mailbox table",
    "550 5.1.1 Sender verify failed",
  ],
  "relay-refused": [
    "550 5.7.1 Relaying denied",
    "550 5.7.1 Relay access denied",
    "550 You must authenticate first",
    "530 Authentication required",
    "553 sorry, that domain isn't in my list of allowed rcpthosts",
  ],
  "rate-limited": [
    "421 4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred due to user complaints",
    "550 5.2.1 The user you are trying to contact is receiving mail at a rate that prevents delivery",
    "550 Daily message limit reached for this account",
    "550 Daily quota exceeded",
    "550 Domain acme.example has exceeded the max emails per hour (101/100 (101%)) allowed",
  ],
  greylisted: ["451 4.7.1 Greylisting in action", "450 4.2.0 Greylisted"],
  "list-refused": ["550 5.7.133 RESOLVER.RST.SenderNotAuthenticatedForGroup; only authorized senders"],
  "content-refused": [
    "552-5.7.0 Our system detected an illegal attachment on your message.",
    "550 5.7.1 message content rejected",
    "550 Message rejected due to policy",
    "554 5.6.0 xyz",
    "554 Transaction failed",
  ],
  policy: [
    "550 5.7.1 Refused by local policy",
    "550 Administrative prohibition",
    "554 5.7.0 xyz",
    // The text about the mailbox does not count: 5.7.13 is about the account that logged in.
    "550 5.7.1 No such user c18si2365148hub",
    "552 5.7.0 The recipient mailbox has exceeded its disk space limit.",
    "525 5.7.13 User account disabled",
  ],
  "unknown-reason": [
    "550 xyz",
    "550 5.0.0 xyz",
    "550 5.1.0 xyz",
    "550 5.5.0 xyz",
    "554 Service unavailable",
    "500 unrecognized command",
    "501 Bad address",
    "503 Bad sequence of commands",
    "554 5.5.1 Error: no valid recipients",
    // The text may refer to the sender's domain, or to everything on this server.
    "550 Domain does not exist",
    "521 This server does not accept mail",
    "Delivery failed.",
  ],

  expired: ["retry timeout exceeded", "Envelope expired", "550 5.4.7 xyz"],
  unreachable: [
    "550 5.4.4 Unable to route",
    "connect to mx.shop.example[192.0.2.7]:25: Connection refused",
    "Host or domain name not found. Name service error for name=a.example: Host not found, try again",
  ],
  loop: ["554 5.4.6 Too many hops 26 (25 max)"],
  "server-error": ["554 5.3.0 Command died with status 1", "550 5.3.0 permanent failure, mailbox unavailable"],
  "temporary-failure": ["450 4.1.1 xyz", "450 4.1.2 Domain not found", "450 4.0.0 xyz"],
};

const ROWS = Object.entries(REFUSALS).flatMap(([meaning, texts]) =>
  texts.map((text): [string, Meaning] => [text, meaning as Meaning]),
);

/** Reply as the SMTP client reads it from the wire; undefined for a mail server's report about its own attempts. */
function replyOf(text: string): Reply | undefined {
  let reply: Reply | undefined;
  if (!/^\d{3}/.test(text)) return undefined;
  new ReplyReader().push(`${text.replace(/^(\d{3})-/, "$1 ")}\r\n`, (read) => (reply = read));
  return reply;
}

const CODE = /\b[45]\.\d{1,3}\.\d{1,3}\b/;
const statusOf = (text: string) => CODE.exec(text)?.[0] ?? (/^4/.test(text) ? "4.0.0" : "5.0.0");

const reported = (text: string) =>
  only(
    report([
      "Final-Recipient: rfc822; ann@shop.example",
      "Action: failed",
      `Status: ${statusOf(text)}`,
      `Diagnostic-Code: smtp; ${text}`,
    ]),
  );

/** Amazon's event with an unspecific class: the server's answer decides. */
function amazons(text: string) {
  const recipient = { emailAddress: "ann@shop.example", status: statusOf(text), diagnosticCode: `smtp; ${text}` };
  const bounce = { bounceType: "Undetermined", bounceSubType: "Undetermined", bouncedRecipients: [recipient] };
  return readSes({ notificationType: "Bounce", bounce, mail: {} })[0]!.report.verdicts[0]!;
}

test.each(ROWS)("%s is %s", async (text, meaning) => {
  const kind = MEANINGS[meaning];
  const reply = replyOf(text);
  expect(classify({ text, status: reply?.enhanced })).toMatchObject({ meaning });
  expect(await reported(text)).toMatchObject({ kind: bounceKindOf(meaning), reason: meaning });
  expect(amazons(text)).toMatchObject({ kind: bounceKindOf(meaning), reason: meaning });
  if (!reply) return;
  const outcome = outcomeOf({ kind: "refused", stage: "rcpt", reply }, { tries: MAX_TRIES, isTransactional: false });
  const status = kind === "hard" && reply.code >= 500 ? "bounced" : "failed";
  // Temporary refusals up to the last try concern the mailbox only if they are soft.
  const bounce = kind === "other" || (reply.code < 500 && kind !== "soft") ? undefined : kind;
  expect(outcome).toMatchObject({ status });
  expect(outcome.bounce).toBe(bounce);
});

describe("a code, where the text is unclear,", () => {
  test.each([
    ["5.1.1", "mailbox-unknown"],
    ["5.1.2", "domain-unknown"],
    ["5.1.6", "mailbox-moved"],
    ["5.1.10", "accepts-no-mail"],
    ["5.2.0", "mailbox-status"],
    ["5.2.1", "mailbox-disabled"],
    ["5.2.2", "mailbox-full"],
    ["5.2.3", "too-large"],
    ["5.3.4", "too-large"],
    ["5.4.4", "unreachable"],
    ["5.4.7", "expired"],
    ["5.6.1", "content-refused"],
    ["5.7.0", "policy"],
    ["5.7.1", "policy"],
    ["5.7.26", "authentication"],
    ["4.1.1", "temporary-failure"],
    ["4.0.0", "temporary-failure"],
    ["5.0.0", "unknown-reason"],
    ["5.5.0", "unknown-reason"],
    ["", "unknown-reason"],
  ])("decides: %s is %s", (status, meaning) => {
    expect(classify({ text: "", status }).meaning).toBe(meaning);
  });

  test("if vague is overridden by the code in the server's text", () => {
    expect(classify({ status: "5.0.0", text: "550-5.2.2 xyz" })).toEqual({
      meaning: "mailbox-full",
      statusCode: "5.2.2",
    });
  });

  test("is not read from parts of addresses, dates and sizes", () => {
    expect(statusCodeIn("host 192.5.1.1.example [10.5.1.1] on 25.5.2012")).toBeUndefined();
    expect(statusCodeIn("#5.1.1)")?.code).toBe("5.1.1");
    expect(replyCodeIn("queue id 55012, 550 bytes, port:550, 10.0.0.550")).toBeUndefined();
    expect(replyCodeIn("said: 550-5.1.1 no")).toBe(550);
  });
});

test("a mailbox called unknown only after the content may be a filter of its owner", () => {
  const meaning = (text: string, status: string) => classify({ text, status, isAfterData: true }).meaning;
  expect(meaning("550 Unknown user ann@carrier.example", "5.0.0")).toBe("filtered");
  expect(meaning("550 5.1.1 User unknown", "5.1.1")).toBe("mailbox-unknown");
  expect(MEANINGS.filtered).toBe("soft");
});
