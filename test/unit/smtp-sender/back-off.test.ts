import { deferredForMs, MAX_TRIES } from "../../../services/smtp-sender/delivery/back-off.ts";

const HOUR_MS = 3_600_000;
const middle = () => 0.5;

test("the first retry comes after about a minute, 12 tries span about a day", () => {
  expect(deferredForMs(1, undefined, middle)).toBe(60_000);
  let all = 0;
  for (let tries = 1; tries < MAX_TRIES; tries++) all += deferredForMs(tries, undefined, middle);
  expect(all / HOUR_MS).toBeGreaterThan(22);
  expect(all / HOUR_MS).toBeLessThan(26);
});

test("the jitter is a fifth in either direction", () => {
  expect(deferredForMs(1, undefined, () => 0)).toBe(48_000);
  expect(deferredForMs(1, undefined, () => 1)).toBe(72_000);
});
