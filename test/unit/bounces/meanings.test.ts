import { judge } from "../../../services/bounces/reports/judge.ts";
import { MEANINGS } from "../../../services/bounces/reports/meanings.ts";
import { replyCodeIn, statusCodeIn } from "../../../services/bounces/reports/status-codes.ts";

const meaning = (diagnostic: string, status = "", rest: { notice?: string; afterData?: boolean } = {}) =>
  judge({ status, diagnostic, notice: rest.notice ?? "", afterData: rest.afterData ?? false }).meaning;

describe("words of servers", () => {
  test.each([
    // Postfix, Exim, sendmail, qmail, OpenSMTPD, Exchange, Gmail, Yahoo, Outlook.com, Domino and others.
    [
      "550 5.1.1 <ann@shop.example>: Recipient address rejected: User unknown in local recipient table",
      "mailbox-unknown",
    ],
    ["550 Unrouteable address", "mailbox-unknown"],
    ["550 5.1.1 <ann@shop.example>... User unknown", "mailbox-unknown"],
    ["511 sorry, no mailbox here by that name (#5.1.1 - chkuser)", "mailbox-unknown"],
    ["550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found by SMTP address lookup", "mailbox-unknown"],
    [
      "550-5.1.1 The email account that you tried to reach does not exist. Please try double-checking",
      "mailbox-unknown",
    ],
    ["554 delivery error: dd This user doesn't have a yahoo.com account (ann@yahoo.com) [0]", "mailbox-unknown"],
    ["550 5.4.1 Recipient address rejected: Access denied. [AM.prod.protection.outlook.com]", "mailbox-unknown"],
    ["User ann (ann@shop.example) not listed in Domino Directory", "mailbox-unknown"],
    ["550 5.7.1 No such user c18si2365148hub", "mailbox-unknown"],
    ["550 Empfänger unbekannt: Empfängeradresse existiert nicht", "mailbox-unknown"],
    ["550 L'adresse de messagerie n'existe pas: utilisateur inconnu", "mailbox-unknown"],
    ["550 El usuario no existe", "mailbox-unknown"],
    ["550 Пользователь не найден", "mailbox-unknown"],
    ["550 Requested action not taken: mailbox unavailable", "mailbox-unavailable"],
    ["551 5.1.6 User has moved to another place", "mailbox-moved"],

    ["552 5.2.2 mailbox full", "mailbox-full"],
    ["452 4.2.2 The email account that you tried to reach is over quota", "mailbox-full"],
    ["550 Benutzer hat zuviele Mails auf dem Server. / User has too many messages on the server.", "mailbox-full"],
    ["maildrop: maildir over quota.", "mailbox-full"],
    ["550 Espacio en casilla de mail agotado.", "mailbox-full"],
    ["552 5.3.4 Message size exceeds fixed limit", "too-large"],
    ["550 5.2.1 The email account that you tried to reach is disabled", "mailbox-disabled"],
    ["550 5.5.0 The recipient account is blocked. LPN007_426", "mailbox-disabled"],
    ["525 5.7.13 User account disabled", "mailbox-disabled"],

    ["550 5.1.2 Host unknown (Authoritative answer from name server)", "domain-unknown"],
    [
      "Host or domain name not found. Name service error for name=gone.example type=MX: Host not found",
      "domain-unknown",
    ],
    ["Sorry, I couldn't find any host named gone.example. (#5.1.2)", "domain-unknown"],
    ["Domain gone.example does not accept mail (nullMX)", "accepts-no-mail"],
    ["521 5.3.2 system not accepting network messages", "accepts-no-mail"],

    ["554 5.7.1 Service unavailable; Client host [192.0.2.1] blocked using zen.spamhaus.org", "blocked"],
    ["550 5.7.1 Our system has detected that this message is likely unsolicited mail", "spam"],
    ["550 5.7.26 This mail has been blocked because the sender is unauthenticated", "authentication"],
    ["550 5.7.25 The IP address sending this message does not have a PTR record", "authentication"],
    ["554 5.7.1 Virus Eicar-Test found", "virus"],
    ["550 5.7.1 Relaying denied", "relay-refused"],
    ["550 5.1.8 Sender address rejected: Domain not found", "sender-refused"],
    ["421 4.7.0 [TSS04] Messages from 192.0.2.1 temporarily deferred due to user complaints", "rate-limited"],
    ["550 5.7.133 RESOLVER.RST.SenderNotAuthenticatedForGroup; only authorized senders", "list-refused"],
    ["552-5.7.0 Our system detected an illegal attachment on your message.", "content-refused"],
    ["550 5.7.1 Refused by local policy", "policy"],
    ["550 5.7.1 message content rejected", "content-refused"],
    ["552 5.2.2 <ann@shop.example> Quota exceeded (mailbox for user is full)", "mailbox-full"],
    ["message size 20480123 exceeds size limit 10240000 of server mx.shop.example[192.0.2.7]", "too-large"],

    ["retry timeout exceeded", "expired"],
    ["Envelope expired", "expired"],
    ["connect to mx.shop.example[192.0.2.7]:25: Connection refused", "unreachable"],
    ["Host or domain name not found. Name service error for name=a.example: Host not found, try again", "unreachable"],
    ["554 5.4.6 Too many hops 26 (25 max)", "loop"],
    ["554 5.3.0 Command died with status 1", "server-error"],
  ])("%s: %s", (diagnostic, expected) => {
    expect(meaning(diagnostic)).toBe(expected);
  });

  test("words decide where codes lie: 5.1.1 for a filter, 5.7.1 for an unknown mailbox, 5.0.0 for a full one", () => {
    expect(meaning("550 5.1.1 rejected: listed in bl.spamcop.net", "5.1.1")).toBe("blocked");
    expect(meaning("550 5.7.1 No such user", "5.7.1")).toBe("mailbox-unknown");
    expect(meaning("552 sorry, the mailbox is full", "5.0.0")).toBe("mailbox-full");
  });

  test("an address or a link that holds telling words says nothing", () => {
    expect(meaning("550 5.1.1 <spam.filter@blocked.example>: no such user")).toBe("mailbox-unknown");
    expect(meaning("550 5.1.1 no such user, see https://mx.example/help/spam-blocked#quota")).toBe("mailbox-unknown");
    expect(meaning("550 rejected, see https://www.spamhaus.org/query/ip/192.0.2.1")).toBe("blocked");
  });
});

describe("codes, where the words say nothing", () => {
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
    ["", "unknown-reason"],
  ])("%s: %s", (status, expected) => {
    expect(meaning("", status)).toBe(expected);
  });

  test("a vague Status gives way to the code in the server's words", () => {
    expect(judge({ status: "5.0.0", diagnostic: "550-5.2.2 xyz", notice: "", afterData: false })).toEqual({
      meaning: "mailbox-full",
      statusCode: "5.2.2",
    });
  });

  test("parts of addresses, dates and sizes are no codes", () => {
    expect(statusCodeIn("host 192.5.1.1.example [10.5.1.1] on 25.5.2012")).toBeUndefined();
    expect(statusCodeIn("#5.1.1)")?.code).toBe("5.1.1");
    expect(replyCodeIn("queue id 55012, 550 bytes, port:550, 10.0.0.550")).toBeUndefined();
    expect(replyCodeIn("said: 550-5.1.1 no")).toBe(550);
  });
});

describe("what suppresses is certain", () => {
  test("a temporary code never makes a domain or an unavailable mailbox unknown", () => {
    expect(meaning("450 4.1.2 Domain not found", "4.1.2")).toBe("temporary-failure");
    expect(meaning("450 4.2.0 mailbox unavailable", "4.2.0")).toBe("temporary-failure");
  });

  test("a mailbox called unknown only after the content may be a filter of its owner", () => {
    expect(meaning("550 Unknown user ann@carrier.example", "5.0.0", { afterData: true })).toBe("filtered");
    expect(meaning("550 5.1.1 User unknown", "5.1.1", { afterData: true })).toBe("mailbox-unknown");
    expect(MEANINGS.filtered).toBe("soft");
  });

  test("a failure that nothing explains suppresses nobody", () => {
    expect(MEANINGS[meaning("Delivery failed.")]).toBe("block");
    expect(MEANINGS[meaning("", "5.5.0")]).toBe("block");
  });
});
