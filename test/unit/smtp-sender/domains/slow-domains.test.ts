import { performance } from "node:perf_hooks";
import type { SlowDomain } from "../../../../services/smtp-sender/domains/slow-domain.ts";
import { SlowDomains } from "../../../../services/smtp-sender/domains/slow-domains.ts";
import type { RefusedStage, TransactionResult } from "../../../../services/smtp-sender/smtp/message.ts";

const refused = (text: string, stage: RefusedStage = "rcpt"): TransactionResult => ({
  kind: "refused",
  stage,
  reply: { code: Number(text.slice(0, 3)), enhanced: /^\d{3} (\d\.\d+\.\d+)/.exec(text)?.[1] ?? "", text },
});
const limited = (n: number) => `451 4.7.1 <r${n}@slow.example>: limited, id ${n}x${n} at 12:0${n % 10}`;

function domains() {
  const published = new Map<string, SlowDomain>();
  const slow = new SlowDomains({
    smtpConfigId: "id",
    windowMs: 60_000,
    publish: (domain, learnt) => published.set(domain, learnt),
  });
  const defer = (times: number, text: (n: number) => string, stage?: RefusedStage, name = "slow.example") =>
    Array.from({ length: times }, (_, n) => slow.deferred(name, refused(text(n), stage), performance.now())).at(-1);
  return { slow, published, defer };
}

test("five deferrals with an equal text slow their domain, also with mails of others between; the sixth is no news of the server", () => {
  const { slow, published, defer } = domains();
  expect(defer(4, limited)).toBe(false);
  slow.accepted("other.example");
  expect(slow.size).toBe(0);
  expect(defer(1, limited)).toBe(true);
  expect(slow.of("slow.example")?.heldMs).toBeGreaterThan(0);
  expect(slow.of("other.example")).toBeUndefined();
  slow.accepted("other.example");
  expect([...published.keys()]).toEqual([]);
  expect(defer(20, limited)).toBe(true);
  expect([...published.keys()]).toEqual(["slow.example"]);
});

test("the first time five mails in a row end it, as where a server only looks at a newcomer; the next time they do not", () => {
  const { slow, published, defer } = domains();
  const accept = (times: number) => Array.from({ length: times }, () => slow.accepted("slow.example"));
  defer(5, limited);
  accept(4);
  expect(slow.size).toBe(1);
  accept(1);
  expect(slow.size).toBe(0);
  expect(published.size).toBe(0);
  defer(5, limited);
  accept(50);
  expect(slow.size).toBe(1);
  expect([...published.keys()]).toEqual(["slow.example"]);
});

test("a domain that took two thousand mails a minute is slowed to that, and not to thirty; where its limit is lower now, to thirty", () => {
  const { slow, published, defer } = domains();
  const accept = (times: number) => Array.from({ length: times }, () => slow.accepted("slow.example"));
  accept(2_000);
  defer(5, limited);
  accept(5);
  expect(slow.size).toBe(0);
  defer(5, limited);
  accept(1);
  expect(slow.of("slow.example")!.intervalMs).toBeLessThan(60_000 / 1_400 + 1);
  defer(1, limited);
  const again = published.get("slow.example")!;
  expect([again.rate, again.inVainInARow]).toEqual([30, 0]);
});

test("a deferral among the first mails that are accepted: it stays slow, however many follow", () => {
  const { slow, defer } = domains();
  defer(5, limited);
  for (let n = 0; n < 4; n++) slow.accepted("slow.example");
  expect(defer(1, limited)).toBe(true);
  for (let n = 0; n < 50; n++) slow.accepted("slow.example");
  expect(slow.size).toBe(1);
});

test.each<[string, (n: number) => string, RefusedStage]>([
  ["other texts", (n) => `451 4.7.1 ${"abcdefgh"[n % 8]} happened`, "rcpt"],
  ["greylisting", () => "450 4.7.1 Greylisted, try later", "rcpt"],
  ["mailboxes that are full", () => "452 4.2.2 Mailbox full", "rcpt"],
  ["refusals of the sender", () => "451 4.7.1 Try again later", "mail"],
  ["permanent refusals", () => "550 5.7.1 Not from you", "rcpt"],
])("%s slow no domain", (_, text, stage) => {
  const { slow, defer } = domains();
  expect(defer(30, text, stage)).toBe(false);
  expect(slow.size).toBe(0);
});

test("a domain is slow on trial: where the server has accepted nothing since, its next deferral is the server's", () => {
  const { slow, published, defer } = domains();
  const before = performance.now();
  defer(5, limited);
  // Under way when it was noticed.
  expect(slow.deferred("slow.example", refused(limited(6)), before)).toBe(true);
  expect(defer(1, limited)).toBe(false);
  expect(slow.size).toBe(0);
  defer(5, limited);
  slow.forgetTrials();
  expect(slow.size).toBe(0);
  expect(published.size).toBe(0);
});

test("an answer of before a domain was slow does not take away that its next five accepted mails end it", () => {
  const { slow, defer } = domains();
  const before = performance.now();
  defer(5, limited);
  slow.accepted("slow.example");
  // As in a session of postscreen's that goes on answering 450.
  expect(slow.deferred("slow.example", refused(limited(6)), before)).toBe(true);
  for (let n = 0; n < 4; n++) slow.accepted("slow.example");
  expect(slow.size).toBe(0);
});

test("what other nodes have learnt holds here, unless this one knows better", () => {
  const { slow, defer } = domains();
  const there = domains();
  there.defer(5, limited);
  there.slow.accepted("other.example");
  there.defer(1, limited);
  slow.tick(there.published);
  expect(slow.of("slow.example")).toBeDefined();
  expect(defer(1, limited)).toBe(true);
  const known = slow.of("slow.example")!.heldMs;
  slow.tick(there.published);
  expect(slow.of("slow.example")!.heldMs).toBeGreaterThan(known - 1_000);
});

test("thousands of domains that deferred once are not all kept", () => {
  const { slow, defer } = domains();
  defer(4, limited, "rcpt", "first.example");
  for (let n = 0; n < 2_000; n++) defer(1, limited, "rcpt", `d${n}.example`);
  // It has been forgotten, and its count begins anew.
  expect(defer(4, limited, "rcpt", "first.example")).toBe(false);
  expect(slow.size).toBe(0);
});

test("a domain that takes mail between its deferrals is not slowed", () => {
  const { slow, defer } = domains();
  for (let n = 0; n < 50; n++) {
    expect(defer(3, limited)).toBe(false);
    slow.accepted("slow.example");
  }
  expect(slow.size).toBe(0);
});

test("one that goes on deferring at whatever rate is left alone, here and where it was learnt from others", () => {
  jest.useFakeTimers({ now: 1_000_000, doNotFake: ["performance"] });
  try {
    const { slow, published, defer } = domains();
    defer(5, limited);
    for (let n = 0; slow.size > 0 && n < 100; n++) {
      slow.accepted("slow.example");
      jest.advanceTimersByTime(15_000);
      defer(1, limited);
    }
    expect(slow.size).toBe(0);
    expect(defer(30, limited)).toBe(false);
    slow.tick(published);
    expect(slow.of("slow.example")).toBeUndefined();
    const there = domains();
    there.slow.tick(published);
    expect(there.slow.of("slow.example")).toBeUndefined();
    expect(there.defer(30, limited)).toBe(false);
  } finally {
    jest.useRealTimers();
  }
});
