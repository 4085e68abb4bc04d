import { ServerHealth } from "../../../services/smtp-sender/server/health.ts";
import type { RefusedStage, TransactionResult } from "../../../services/smtp-sender/smtp/transaction.ts";

const refused = (stage: RefusedStage, text: string): TransactionResult => ({
  kind: "refused",
  stage,
  reply: { code: Number(text.slice(0, 3)), enhanced: /^\d{3} (\d\.\d+\.\d+)/.exec(text)?.[1] ?? "", text },
});

/** Number of these refusals until the pause; undefined if there was none. */
function pausesAfter(stage: RefusedStage, texts: string[]): number | undefined {
  const health = new ServerHealth("working");
  const at = texts.findIndex((text) => health.reasonToPause(refused(stage, text)) !== undefined);
  return at < 0 ? undefined : at + 1;
}

test("4xx at MAIL is a state of the server from the first reply on", () => {
  expect(pausesAfter("mail", ["450 4.7.1 Error: too much mail"])).toBe(1);
});

test.each<RefusedStage>(["rcpt", "data", "endOfData"])(
  "%s: five equal refusals in a row pause, others do not",
  (stage) => {
    const equal = [1, 2, 3, 4, 5].map((n) => `450 4.7.1 <r${n}@example.com>: rate limited, id ${n}a${n}`);
    expect(pausesAfter(stage, equal)).toBe(5);
    expect(pausesAfter(stage, ["450 one", "450 two", "450 one", "450 two", "450 one", "450 two"])).toBeUndefined();
  },
);

test("greylisting and full mailboxes delay recipients only, however many", () => {
  expect(pausesAfter("rcpt", Array(50).fill("450 4.7.1 Greylisted, see postgrey"))).toBeUndefined();
  expect(pausesAfter("rcpt", Array(50).fill("452 4.2.2 Mailbox full"))).toBeUndefined();
  expect(pausesAfter("rcpt", Array(50).fill("451 4.1.8 Domain of sender address does not resolve"))).toBeUndefined();
});

test("an accepted message, or a permanent reply, restarts the count", () => {
  const health = new ServerHealth("working");
  const later = refused("endOfData", "451 4.3.0 later");
  for (let n = 0; n < 4; n++) expect(health.reasonToPause(later)).toBeUndefined();
  health.accepted();
  for (let n = 0; n < 4; n++) expect(health.reasonToPause(later)).toBeUndefined();
  expect(health.reasonToPause(refused("rcpt", "550 5.1.1 unknown"))).toBeUndefined();
  for (let n = 0; n < 4; n++) expect(health.reasonToPause(later)).toBeUndefined();
  expect(health.reasonToPause(later)).toBe("451 4.3.0 later");
});

test("any temporary refusal of a probe pauses again, and only an accepted message ends the pause", () => {
  const health = new ServerHealth("paused");
  health.accepted();
  expect(health.mode).toBe("paused");
  health.become("probing");
  expect(health.reasonToPause(refused("endOfData", "451 4.3.0 later"))).toBeDefined();
  health.accepted();
  expect(health.mode).toBe("working");
});
