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

// Kinds of refusals: test/unit/replies.test.ts.
test.each<[Stage, string, string, string | undefined]>([
  // Reply, recipient's status, recorded bounce.
  ["rcpt", "550 5.1.1 User unknown", "bounced", "hard"],
  ["rcpt", "552 5.2.2 Mailbox full", "failed", "soft"],
  ["rcpt", "550 5.7.1 Relay access denied", "failed", "block"],
  ["rcpt", "550 5.4.4 Unable to route", "failed", undefined],
  ["rcpt", "450 4.2.0 Greylisted", "deferred", undefined],
  ["rcpt", "452 4.2.2 Mailbox full", "deferred", undefined],
  ["rcpt", "451 4.7.1 Greylisting in action", "deferred", undefined],
  ["data", "554 5.6.0 Bad content", "failed", "block"],
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

test("refusals that differ only in addresses and ids have the same text, mailbox refusals have none", () => {
  const repeated = (text: string) => outcomeOf(refused("rcpt", text), first).repeated;
  expect(repeated("550 <ann@example.org>: prohibited, id 4fX3Jk2")).toBe(
    repeated("550 <bob@example.net>: prohibited, id 9aB1Zz7"),
  );
  expect(repeated("550 Administrative prohibition")).not.toBe(repeated("554 Transaction failed"));
  expect(repeated("550 5.7.1 Recipient address rejected: user unknown")).toBeUndefined();
  expect(repeated("550 5.1.1 User unknown")).toBeUndefined();
});

test.each([
  ["550 Administrative prohibition", true],
  ["554 Transaction failed", true],
  ["552 Requested action aborted", true],
  ["550 Daily quota exceeded", true],
  ["554 5.7.1 Blocked, see our policy", true],
  ["550 5.1.1 listed at Spamhaus", true],
  ["550 5.2.0 xyz", false],
  ["554 5.6.0 Bad content", false],
  ["550 5.5.1 xyz", false],
  ["550 5.4.4 Unable to route", false],
])("%s counts towards the stop after equal refusals: %s", (text, counts) => {
  expect(outcomeOf(refused("rcpt", text), first).repeated !== undefined).toBe(counts);
});

test("a refused sender stops the campaign with the server's words", () => {
  const { stops, status } = outcomeOf(refused("mail", "550 5.7.1 Sender refused"), first);
  expect({ stops, status }).toEqual({
    stops: "The SMTP server refused the sender address: 550 5.7.1 Sender refused",
    status: "queued",
  });
});

test("a mail that is deferred on its last attempt fails", () => {
  const result = refused("rcpt", "450 4.2.0 Later");
  expect(outcomeOf(result, { tries: MAX_TRIES - 1, isTransactional: false }).status).toBe("deferred");
  const last = outcomeOf(result, { tries: MAX_TRIES, isTransactional: false });
  expect(last).toMatchObject({ status: "failed", error: "Given up after 12 attempts. Deferred: 450 4.2.0 Later" });
});

test("a mailbox that was full at every attempt is a soft bounce in the end; greylisting is not", () => {
  const last = (reply: string) => outcomeOf(refused("rcpt", reply), { tries: MAX_TRIES, isTransactional: false });
  expect(last("452 4.2.2 Mailbox full")).toMatchObject({ status: "failed", bounce: "soft" });
  expect(last("450 The user's mailbox is full")).toMatchObject({ status: "failed", bounce: "soft" });
  expect(last("450 4.2.0 Greylisted").bounce).toBeUndefined();
  expect(last("451 4.3.0 Try later").bounce).toBeUndefined();
});

test("a missing answer to the final dot leaves a newsletter in doubt, and sends transactional mail again", () => {
  const result: TransactionResult = { kind: "doubt", reason: "The connection was closed" };
  expect(outcomeOf(result, first).status).toBe("unknown");
  expect(outcomeOf(result, { tries: 1, isTransactional: true }).status).toBe("deferred");
});

test("emails that were certainly not accepted are deferred", () => {
  expect(outcomeOf({ kind: "unsent", reason: "The connection was closed" }, first).status).toBe("deferred");
});
