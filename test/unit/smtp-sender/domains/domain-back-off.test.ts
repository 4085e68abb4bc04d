import { performance } from "node:perf_hooks";
import { DomainBackOffs } from "../../../../services/smtp-sender/domains/domain-back-off.ts";
import type { RefusedStage, TransactionResult } from "../../../../services/smtp-sender/smtp/transaction.ts";

const MINUTE = 60_000;
const SLOW = "slow.example";

let now = 1_000_000;
beforeEach(() => jest.spyOn(performance, "now").mockImplementation(() => now));
afterEach(() => jest.restoreAllMocks());

const refused = (text: string, stage: RefusedStage = "rcpt"): TransactionResult => ({
  kind: "refused",
  stage,
  reply: { code: Number(text.slice(0, 3)), enhanced: /^\d{3} (\d\.\d+\.\d+)/.exec(text)?.[1] ?? "", text },
});
const limited = (n: number) => `451 4.7.1 <r${n}@slow.example>: limited, id ${n}x${n} at 12:0${n % 10}`;

function domains() {
  const backOffs = new DomainBackOffs(MINUTE);
  const defer = (times: number, text: (n: number) => string = limited, stage?: RefusedStage, domain = SLOW) =>
    Array.from({ length: times }, (_, n) => backOffs.deferred(domain, refused(text(n), stage), now)).at(-1);
  return { backOffs, defer };
}

test("five deferrals with the same text slow their domain, also with emails of others between; the sixth does not affect the server", () => {
  const { backOffs, defer } = domains();
  expect(defer(4)).toBe(false);
  backOffs.accepted("other.example");
  expect(backOffs.size).toBe(0);
  expect(defer(1)).toBe(true);
  expect(backOffs.take(SLOW, 5)).toEqual({ granted: 0, retryAfterMs: 10_000 });
  expect(backOffs.take("other.example", 5)).toEqual({ granted: 5, retryAfterMs: 0 });
  backOffs.accepted("other.example");
  expect(defer(1)).toBe(true);
  expect(backOffs.all).toEqual([{ domain: SLOW, perMinute: 60, text: "451 # @ limited, id # at #" }]);
});

test("each further deferral doubles the interval up to five minutes, and each minute with mail halves it until it ends", () => {
  const { backOffs, defer } = domains();
  defer(5);
  backOffs.accepted("other.example");
  defer(20);
  expect(backOffs.intervalMs(SLOW)).toBe(5 * MINUTE);
  let minutes = 0;
  for (; backOffs.size > 0; minutes++) {
    now += MINUTE;
    backOffs.accepted(SLOW);
    backOffs.accepted(SLOW);
  }
  expect(minutes).toBe(13);
});

test("a domain with a limit of a hundred a minute gets most of that, and defers less than one email in five", () => {
  const { backOffs, defer } = domains();
  let taken: number[] = [];
  const all = { accepted: 0, deferred: 0 };
  for (const until = now + 60 * MINUTE; now < until; now += 100) {
    backOffs.accepted("other.example");
    taken = taken.filter((at) => at > now - MINUTE);
    for (let n = backOffs.take(SLOW, 10).granted; n > 0; n--) {
      if (taken.length < 100) {
        taken.push(now);
        all.accepted++;
        backOffs.accepted(SLOW);
      } else {
        all.deferred++;
        defer(1);
      }
    }
  }
  expect(all.accepted).toBeGreaterThan(60 * 50);
  expect(all.deferred).toBeLessThan(all.accepted / 4);
});

test("unused grants are returned", () => {
  const { backOffs, defer } = domains();
  defer(5);
  now += 20_000;
  expect(backOffs.take(SLOW, 10)).toEqual({ granted: 3, retryAfterMs: 500 });
  backOffs.giveBack(SLOW, 2);
  expect(backOffs.take(SLOW, 10).granted).toBe(2);
});

test.each<[string, (n: number) => string, RefusedStage]>([
  ["other texts", (n) => `451 4.7.1 ${"abcdefgh"[n % 8]} happened`, "rcpt"],
  ["greylisting", () => "450 4.7.1 Greylisted, try later", "rcpt"],
  ["mailboxes that are full", () => "452 4.2.2 Mailbox full", "rcpt"],
  ["refusals of the sender", () => "451 4.7.1 Try again later", "mail"],
  ["permanent refusals", () => "550 5.7.1 Not from you", "rcpt"],
])("%s do not slow a domain", (_, text, stage) => {
  const { backOffs, defer } = domains();
  expect(defer(30, text, stage)).toBe(false);
  expect(backOffs.size).toBe(0);
});

test("if the server has accepted nothing since, the next deferral is the server's; replies to earlier emails are not", () => {
  const { backOffs, defer } = domains();
  defer(5);
  expect(backOffs.deferred(SLOW, refused(limited(6)), now - 1)).toBe(true);
  expect(defer(1)).toBe(false);
  expect(backOffs.size).toBe(0);
  defer(5);
  backOffs.serverPaused();
  expect(backOffs.size).toBe(0);
});

test("a domain that accepts mail between its deferrals is not slowed", () => {
  const { backOffs, defer } = domains();
  for (let n = 0; n < 50; n++) {
    expect(defer(3)).toBe(false);
    backOffs.accepted(SLOW);
  }
  expect(backOffs.size).toBe(0);
});

test("a domain that defers every fourth mail at any rate is slowed no further, and its back-off ends", () => {
  const { backOffs, defer } = domains();
  defer(5);
  backOffs.accepted("other.example");
  let minutes = 0;
  for (const began = now; backOffs.size > 0; minutes = (now - began) / MINUTE) {
    now += backOffs.intervalMs(SLOW)!;
    for (let n = 0; n < 3; n++) backOffs.accepted(SLOW);
    defer(1);
  }
  expect(minutes).toBeLessThan(5);
});

test("old deferrals expire, and not all of thousands of domains that deferred once are kept", () => {
  const { backOffs, defer } = domains();
  defer(5);
  now += 61 * MINUTE;
  backOffs.tick();
  expect(backOffs.size).toBe(0);
  defer(4, limited, "rcpt", "first.example");
  for (let n = 0; n < 2_000; n++) defer(1, limited, "rcpt", `d${n}.example`);
  expect(defer(4, limited, "rcpt", "first.example")).toBe(false);
});
