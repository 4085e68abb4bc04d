import {
  deferredAgain,
  isForgotten,
  isInVain,
  rateOf,
  type SlowDomain,
  slowDomain,
} from "../../../../services/smtp-sender/domains/slow-domain.ts";

const MINUTE = 60_000;

/** A provider that takes `limit` mails in any rolling minute, and what is sent to it as it was learnt; one mail after the other. */
function run(mails: number, limitAt: (nowMs: number) => number, acceptedBefore?: number) {
  const times: number[] = [];
  let oldest = 0;
  let deferred = 0;
  let now = 0;
  // At full speed, until it is noticed.
  for (; deferred < 10; now += 1) {
    if (times.length < limitAt(now)) times.push(now);
    else deferred++;
  }
  let domain: SlowDomain | undefined = slowDomain("451 slow down", now, MINUTE, acceptedBefore ?? times.length);
  let rate = 0;
  while (times.length < mails) {
    if (domain && isForgotten(domain, now, MINUTE)) domain = undefined;
    rate = domain ? rateOf(domain, now, MINUTE) : 60_000;
    now += MINUTE / rate;
    if (domain && now < domain.heldUntilMs) now = domain.heldUntilMs;
    while (times[oldest]! <= now - MINUTE) oldest++;
    if (times.length - oldest < limitAt(now)) {
      times.push(now);
      if (domain) domain = { ...domain, deferredInARow: 0 };
    } else {
      deferred++;
      domain = domain ? deferredAgain(domain, "451 slow down", now, MINUTE) : slowDomain("451 slow down", now, MINUTE);
    }
  }
  return { deferred, minutes: now / MINUTE, forgotten: domain === undefined, rate };
}

test.each([100, 1_000])(
  "a domain that takes %i a minute defers no more than 3 %% of twenty times as many, and gets three quarters of its limit",
  (limit) => {
    const { deferred, minutes } = run(20 * limit, () => limit);
    expect(deferred - 10).toBeLessThanOrEqual(0.03 * 20 * limit);
    expect(minutes).toBeLessThanOrEqual(20 / 0.75 + 5);
  },
);

test("a limit that is far below what was accepted before costs no more than one that is not", () => {
  const { deferred } = run(2_000, () => 100, 3_000);
  expect(deferred - 10).toBeLessThanOrEqual(0.03 * 2_000);
});

test("a limit that is lifted after ten minutes is found out by itself, and the domain forgotten", () => {
  const { forgotten, rate } = run(40_000, (now) => (now < 10 * MINUTE ? 100 : Number.POSITIVE_INFINITY));
  expect(forgotten || rate > 1_000).toBe(true);
});

test("a domain that takes nothing is asked more and more seldom, and its rate is not halved for each answer", () => {
  let domain = slowDomain("451 not now", 0, MINUTE);
  const holds: number[] = [];
  for (let n = 0; n < 8; n++) {
    const now = domain.heldUntilMs;
    domain = deferredAgain(domain, "451 not now", now, MINUTE);
    holds.push((domain.heldUntilMs - now) / 1_000);
  }
  expect(holds).toEqual([20, 40, 80, 160, 300, 300, 300, 300]);
  expect(rateOf(domain, domain.heldUntilMs, MINUTE)).toBe(30);
});

test("a domain that defers one mail in four at whatever rate is given up slowing down after some twenty", () => {
  let domain = slowDomain("451 try again", 0, MINUTE);
  let mails = 0;
  for (let now = domain.heldUntilMs; !isInVain(domain) && mails < 1_000; mails++) {
    now = Math.max(now + MINUTE / rateOf(domain, now, MINUTE), domain.heldUntilMs);
    domain = mails % 4 === 3 ? deferredAgain(domain, "451 try again", now, MINUTE) : { ...domain, deferredInARow: 0 };
  }
  expect(mails).toBeLessThan(40);
});

test("one that keeps to a limit is never given up, also where the limit falls to a third", () => {
  for (const [before, after] of [
    [100, 100],
    [300, 100],
  ] as const) {
    const times: number[] = [];
    let domain = slowDomain("451 slow down", 0, MINUTE);
    for (let now = 0, n = 0; n < 2_000; n++) {
      now = Math.max(now + MINUTE / rateOf(domain, now, MINUTE), domain.heldUntilMs);
      const limit = now < 20 * MINUTE ? before : after;
      const taken = times.filter((at) => at > now - MINUTE).length < limit;
      if (taken) times.push(now);
      domain = taken ? { ...domain, deferredInARow: 0 } : deferredAgain(domain, "451 slow down", now, MINUTE);
      expect(isInVain(domain)).toBe(false);
    }
  }
});
