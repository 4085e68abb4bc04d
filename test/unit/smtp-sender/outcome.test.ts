import { MAX_TRIES } from "../../../services/smtp-sender/delivery/back-off.ts";
import { outcomeOf } from "../../../services/smtp-sender/delivery/outcome.ts";
import type { TransactionResult } from "../../../services/smtp-sender/smtp/transaction.ts";

type Stage = "mail" | "rcpt" | "data" | "endOfData";

const refused = (stage: Stage, text: string): TransactionResult => {
  const code = Number(text.slice(0, 3));
  const enhanced = /^\d{3} ([245]\.\d+\.\d+)/.exec(text)?.[1] ?? "";
  return { kind: "refused", stage, reply: { code, enhanced, text } };
};
const first = { tries: 1, isTransactional: false };

test.each<[Stage, string, string, string | undefined]>([
  // What the answer says, what becomes of the recipient, how the bounce is recorded.
  ["rcpt", "550 5.1.1 User unknown", "bounced", "hard"],
  ["rcpt", "550 5.1.2 Bad destination system", "bounced", "hard"],
  ["rcpt", "550 5.2.1 Mailbox disabled", "bounced", "hard"],
  ["rcpt", "550 No such user here", "bounced", "hard"],
  ["rcpt", "551 User not local", "bounced", "hard"],
  ["rcpt", "553 5.1.3 Bad address syntax", "bounced", "hard"],
  ["rcpt", "552 5.2.2 Mailbox full", "failed", "soft"],
  ["rcpt", "552 Requested action aborted", "failed", "soft"],
  ["rcpt", "550 User is over quota", "failed", "soft"],
  ["rcpt", "550 5.7.1 Relay access denied", "failed", "block"],
  ["rcpt", "554 5.7.1 Service unavailable; client host blocked using zen.spamhaus.org", "failed", "block"],
  ["rcpt", "550 5.1.1 rejected, listed at Spamhaus", "failed", "block"],
  ["rcpt", "550 Message rejected due to policy", "failed", "block"],
  [
    "rcpt",
    "550 5.7.515 Access denied, sending domain does not meet the required authentication level",
    "failed",
    "block",
  ],
  // Refusals of the sender that some servers give for each recipient: one of them must never suppress a list.
  ["rcpt", "550 5.1.8 <a@b.example>: Sender address rejected: Domain not found", "failed", "block"],
  ["rcpt", "553 5.1.7 Bad sender's mailbox address syntax", "failed", "block"],
  [
    "rcpt",
    "550 5.1.0 <a@b.example>: Sender address rejected: User unknown in virtual mailbox table",
    "failed",
    "block",
  ],
  ["rcpt", "550 5.1.1 Sender verify failed", "failed", "block"],
  ["rcpt", "550 Verification failed for <a@b.example>", "failed", "block"],
  ["rcpt", "530 Authentication required", "failed", "block"],
  ["rcpt", "550 You must authenticate first", "failed", "block"],
  ["rcpt", "503 Bad sequence of commands", "failed", "block"],
  ["rcpt", "550 Access denied - Invalid HELO name", "failed", "block"],
  ["rcpt", "554 Message looks like spam", "failed", "block"],
  ["rcpt", "550 5.2.0 Refused, IP on a DNSBL", "failed", "block"],
  ["rcpt", "550 5.1.1 Your address is listed in bl.sorbs.example", "failed", "block"],
  ["endOfData", "550 5.7.26 Unauthenticated mail is not accepted due to the domain's DMARC policy", "failed", "block"],
  ["rcpt", "552 5.2.3 Message length exceeds administrative limit", "failed", "soft"],
  // Refusals of everybody in the words of real servers, without a code that would say so.
  ["rcpt", "550 Administrative prohibition", "failed", "block"],
  ["rcpt", "553 sorry, that domain isn't in my list of allowed rcpthosts", "failed", "block"],
  ["rcpt", "550 Domain acme.example has exceeded the max emails per hour (101/100 (101%)) allowed", "failed", "block"],
  ["rcpt", "550 Daily message limit reached", "failed", "block"],
  ["rcpt", "550 Daily message limit reached for this account", "failed", "block"],
  ["rcpt", "554 Service unavailable", "failed", "block"],
  ["rcpt", "554 Transaction failed", "failed", "block"],
  ["rcpt", "550 No reverse DNS entry for your host", "failed", "block"],
  ["rcpt", "554 Message rejected: Email address is not verified.", "failed", "block"],
  ["rcpt", "500 unrecognized command", "failed", "block"],
  ["rcpt", "550 5.1.1 sorry, no mailbox here by that name. (#5.1.1)", "bounced", "hard"],
  ["rcpt", "550 Requested action not taken: mailbox unavailable", "bounced", "hard"],
  ["rcpt", "550 Unknown user", "bounced", "hard"],
  ["rcpt", "550 unknown recipient <ann@example.org>", "bounced", "hard"],
  ["rcpt", "550 ann@example.org: Recipient not found", "bounced", "hard"],
  ["rcpt", "550 Invalid recipient", "bounced", "hard"],
  ["rcpt", "550 This account has been disabled", "bounced", "hard"],
  ["rcpt", "550 The recipient's mailbox is no longer active", "bounced", "hard"],
  ["rcpt", "550 ann@example.org... User doesn't exist", "bounced", "hard"],
  // Of the recipient, in the words of large providers.
  ["rcpt", "550 5.1.1 The email account that you tried to reach does not exist.", "bounced", "hard"],
  ["rcpt", "550 5.1.10 RESOLVER.ADR.RecipientNotFound; Recipient not found", "bounced", "hard"],
  ["rcpt", "550 5.1.6 Mailbox has moved", "bounced", "hard"],
  ["rcpt", "550 5.1.0 Address rejected.", "bounced", "hard"],
  ["rcpt", "550 5.2.1 The email account that you tried to reach is disabled.", "bounced", "hard"],
  ["rcpt", "550 Unrouteable address", "bounced", "hard"],
  ["rcpt", "550 5.1.1 User bob not listed in Domino Directory", "bounced", "hard"],
  ["rcpt", "550 5.4.4 Unable to route", "failed", undefined],
  ["rcpt", "450 4.2.0 Greylisted", "deferred", undefined],
  ["rcpt", "452 4.2.2 Mailbox full", "deferred", undefined],
  ["rcpt", "451 4.7.1 Greylisting in action", "deferred", undefined],
  ["data", "554 5.6.0 Bad content", "failed", undefined],
  ["endOfData", "554 5.7.1 Looks like spam", "failed", "block"],
  ["endOfData", "550 5.1.1 User unknown", "failed", undefined],
  ["endOfData", "552 5.2.2 Over quota", "failed", "soft"],
  ["endOfData", "451 4.3.0 Try again", "deferred", undefined],
  ["mail", "452 4.3.1 Insufficient system storage", "deferred", undefined],
  ["mail", "552 5.3.4 Message too big", "failed", undefined],
  ["mail", "550 5.7.1 Sender refused", "queued", undefined],
])("%s answered with %s: %s", (stage, text, status, bounce) => {
  const outcome = outcomeOf(refused(stage, text), first);
  expect(outcome.status).toBe(status);
  expect(outcome.bounce).toBe(bounce);
});

test("refusals that differ only by addresses and ids have one text in common, those of a mailbox have none", () => {
  const repeated = (text: string) => outcomeOf(refused("rcpt", text), first).repeated;
  expect(repeated("550 <ann@example.org>: prohibited, id 4fX3Jk2")).toBe(
    repeated("550 <bob@example.net>: prohibited, id 9aB1Zz7"),
  );
  expect(repeated("550 Administrative prohibition")).not.toBe(repeated("554 Transaction failed"));
  expect(repeated("550 5.7.1 Recipient address rejected: user unknown")).toBeUndefined();
  expect(repeated("550 5.1.1 User unknown")).toBeUndefined();
});

test("a refused sender stops the campaign, and says with which words", () => {
  const { stops, status } = outcomeOf(refused("mail", "550 5.7.1 Sender refused"), first);
  expect({ stops, status }).toEqual({
    stops: "The SMTP server refused the sender address: 550 5.7.1 Sender refused",
    status: "queued",
  });
});

test("the last try of a deferred mail fails it", () => {
  const result = refused("rcpt", "450 4.2.0 Later");
  expect(outcomeOf(result, { tries: MAX_TRIES - 1, isTransactional: false }).status).toBe("deferred");
  const last = outcomeOf(result, { tries: MAX_TRIES, isTransactional: false });
  expect(last).toMatchObject({ status: "failed", error: "Given up after 12 tries. Deferred: 450 4.2.0 Later" });
});

test("a mailbox that was full at every try bounces softly in the end; a server that greylists does not", () => {
  const last = (reply: string) => outcomeOf(refused("rcpt", reply), { tries: MAX_TRIES, isTransactional: false });
  expect(last("452 4.2.2 Mailbox full")).toMatchObject({ status: "failed", bounce: "soft" });
  expect(last("450 The user's mailbox is full")).toMatchObject({ status: "failed", bounce: "soft" });
  expect(last("450 4.2.0 Greylisted").bounce).toBeUndefined();
  expect(last("451 4.3.0 Try later").bounce).toBeUndefined();
});

test("no answer to the final dot: a newsletter is in doubt, a transactional mail is sent again", () => {
  const result: TransactionResult = { kind: "doubt", reason: "The connection was closed" };
  expect(outcomeOf(result, first).status).toBe("unknown");
  expect(outcomeOf(result, { tries: 1, isTransactional: true }).status).toBe("deferred");
});

test("what certainly was not accepted is deferred", () => {
  expect(outcomeOf({ kind: "unsent", reason: "The connection was closed" }, first).status).toBe("deferred");
});
