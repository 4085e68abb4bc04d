import { newIdTail } from "../../services/lib/ids.ts";

test("the random part of an id fits its UUID variant and never repeats", () => {
  // More ids than one allocation of random bytes creates.
  const tails = Array.from({ length: 5_000 }, newIdTail);
  expect(tails.every((tail) => /^[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(tail))).toBe(true);
  expect(new Set(tails).size).toBe(tails.length);
});
