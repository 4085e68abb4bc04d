import { DomainBacklog } from "../../../../services/smtp-sender/domains/domain-backlog.ts";

const MINUTE = 60_000;

/** Emails waiting for a domain with a limit per rolling minute: how often they are checked, and when they are sent. */
function run(mails: number, limit: number, minutes: number) {
  const backlog = new DomainBacklog();
  const due: number[] = [];
  const sent: number[] = [];
  let looks = 0;
  const room = (now: number) => {
    const counted = sent.slice(-limit);
    return counted.length < limit ? 0 : Math.max(0, counted[0]! + MINUTE - now);
  };
  const look = (now: number) => {
    looks++;
    const waitMs = room(now);
    if (waitMs === 0) sent.push(now);
    else due.push(now + backlog.postpone(now, { tokenInMs: waitMs, intervalMs: MINUTE / limit }));
  };
  for (let n = 0; n < mails; n++) look(0);
  for (let now = 0; now < minutes * MINUTE; now += 1_000) {
    const waiting = due.splice(0);
    due.push(...waiting.filter((at) => at > now));
    for (let n = waiting.length - due.length; n > 0; n--) look(now);
  }
  return { sent: sent.length, looks };
}

test("a few thousand waiting emails are sent at the limit, and each is checked a few times", () => {
  const { sent, looks } = run(1_000, 100, 9);
  expect(sent).toBeGreaterThanOrEqual(0.97 * 100 * 9);
  expect(looks).toBeLessThan(1_000 * 6);
});

test("many waiting emails cost at most about 200 checks per second, and the limit is still used fully", () => {
  const { sent, looks } = run(20_000, 600, 5);
  expect(sent).toBeGreaterThanOrEqual(0.95 * 600 * 5);
  expect((looks - 20_000) / 300).toBeLessThan(250);
});

test("waiting emails are checked within two minutes, even if they are due in an hour", () => {
  const backlog = new DomainBacklog();
  const delays = Array.from({ length: 6_000 }, () => backlog.postpone(0, { tokenInMs: 0, intervalMs: 600 }));
  expect(Math.max(...delays)).toBeLessThanOrEqual(120_000);
  expect(new Set(delays).size).toBeGreaterThanOrEqual(5_999);
});
