import { LearnedRate } from "../../../services/smtp-sender/transport/learned-rate.ts";

const TOO_MANY = "450 4.7.1 Error: too many messages, rate limited";

/** A server that allows `allowed` mails in any `windowMs`, against a sender that pauses for `pauseMs` when it is refused. */
function play({ allowed, windowMs, pauseMs, forMs }: Record<"allowed" | "windowMs" | "pauseMs" | "forMs", number>) {
  const rate = new LearnedRate();
  const acceptedAt: number[] = [];
  let refused = 0;
  let pausedUntil = 0;
  for (let now = 0; now < forMs; now += 10) {
    if (now < pausedUntil || rate.waitMs(now) > 0) continue;
    rate.sent(now);
    while (acceptedAt.length > 0 && acceptedAt[0]! <= now - windowMs) acceptedAt.shift();
    if (acceptedAt.length < allowed) {
      acceptedAt.push(now);
      rate.accepted();
    } else {
      refused++;
      rate.paused(TOO_MANY, now);
      pausedUntil = now + pauseMs;
    }
  }
  return { refused, rate };
}

test("a server that allows 20 mails in 20 seconds is hardly asked in vain once its rate is known", () => {
  const { refused, rate } = play({ allowed: 20, windowMs: 20_000, pauseMs: 2_000, forMs: 600_000 });
  expect(rate.perSecond).toBeGreaterThanOrEqual(1);
  expect(rate.perSecond).toBeLessThan(2.5);
  expect(refused).toBeLessThan(80);
});

test("one pause teaches nothing, and neither does one that does not speak of a rate", () => {
  const rate = new LearnedRate();
  rate.accepted();
  rate.paused(TOO_MANY, 1_000);
  expect(rate.perSecond).toBeUndefined();
  rate.accepted();
  rate.paused("451 4.3.0 Temporary lookup failure", 2_000);
  rate.accepted();
  rate.paused(TOO_MANY, 3_000);
  expect(rate.perSecond).toBeUndefined();
});

test("a rate is never slower than one mail a second, and is forgotten when the server takes all", () => {
  const rate = new LearnedRate();
  rate.paused(TOO_MANY, 0);
  rate.accepted();
  rate.paused(TOO_MANY, 300_000);
  expect(rate.perSecond).toBe(1);
  let sent = 0;
  for (let now = 300_000; now < 1_200_000 && rate.perSecond !== undefined; now += 5) {
    if (rate.waitMs(now) > 0) continue;
    rate.sent(now);
    sent++;
  }
  expect(rate.perSecond).toBeUndefined();
  expect(sent).toBeGreaterThan(1_000);
});

test("only a mail that goes counts: asking in vain, with nothing to send, holds up nobody", () => {
  const rate = new LearnedRate();
  rate.paused(TOO_MANY, 0);
  rate.accepted();
  rate.paused(TOO_MANY, 1_000);
  expect(rate.perSecond).toBe(1);
  expect([2_000, 2_001, 2_002].map((now) => rate.waitMs(now))).toEqual([0, 0, 0]);
  rate.sent(2_003);
  expect(rate.waitMs(2_503)).toBe(500);
  expect(rate.waitMs(3_003)).toBe(0);
});
