/** Assignment of variants, and errors of a test, without a database. */
import { runsOf } from "../../../services/campaigns/expansion/assign-variants.ts";
import { divideByShare } from "../../../services/campaigns/expansion/divide-by-share.ts";
import { testErrors } from "../../../services/campaigns/send/variants.ts";

/** Deterministic pseudo-random numbers. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
}

function somePercents(next: (below: number) => number): number[] {
  const percents: number[] = [];
  let left = 10_000;
  for (let n = 2 + next(4); n > 0; n--) {
    const part = Math.max(1, n === 1 && next(2) ? left : next(left - n));
    percents.push(part / 100);
    left -= part;
  }
  return percents;
}

const countsOf = (assigned: readonly (number | null)[], shares: number) =>
  Array.from({ length: shares + 1 }, (_, i) => assigned.filter((one) => (one ?? shares) === i).length);

test("at every position each share, including the remainder, is off by less than one", () => {
  const next = numbers(7);
  for (let n = 0; n < 200; n++) {
    const percents = somePercents(next);
    const exact = [...percents, 100 - percents.reduce((sum, one) => sum + one, 0)];
    const given = exact.map(() => 0);
    for (const [at, one] of divideByShare(percents, [], 400).entries()) {
      given[one ?? percents.length]! += 1;
      for (const [i, percent] of exact.entries()) {
        const share = (percent * (at + 1)) / 100;
        if (Math.abs(given[i]! - share) >= 1) throw new Error(`${percents}: ${given} of ${at + 1}`);
      }
    }
  }
});

test("division in slices equals division at once", () => {
  const percents = [12.5, 33.3, 20];
  const whole = divideByShare(percents, [], 1_000);
  const first = divideByShare(percents, [], 377);
  expect([...first, ...divideByShare(percents, countsOf(first, 3), 623)]).toEqual(whole);
});

test("whole shares are exact, and percentages that sum up to 100 leave no remainder", () => {
  expect(countsOf(divideByShare([20, 30], [], 200), 2)).toEqual([40, 60, 100]);
  expect(countsOf(divideByShare([10, 10], [], 10), 2)).toEqual([1, 1, 8]);
  expect(countsOf(divideByShare([33.33, 33.33, 33.34], [], 10_000), 3)).toEqual([3_333, 3_333, 3_334, 0]);
  expect(countsOf(divideByShare([50, 50], [], 3), 2)).toEqual([2, 1, 0]);
});

test("recipients are ordered by variant, the remainder last; chunks of the variants are interleaved", () => {
  const assigned = [...Array(600).fill(0), ...Array(700).fill(1), ...Array(30).fill(null)];
  const { given, test: runs, remainder } = runsOf(assigned, 2, 501);
  expect(given).toEqual([600, 700]);
  expect(runs).toEqual([
    { lo: 501, hi: 1_000 },
    { lo: 1_101, hi: 1_600 },
    { lo: 1_001, hi: 1_100 },
    { lo: 1_601, hi: 1_800 },
  ]);
  expect(remainder).toEqual([{ lo: 1_801, hi: 1_830 }]);
});

test("a variant without recipients has no chunk", () => {
  expect(runsOf([1, null], 2, 1)).toEqual({ given: [0, 1], test: [{ lo: 1, hi: 1 }], remainder: [{ lo: 2, hi: 2 }] });
});

const half = { percent: 50 };

test.each([
  [{ variants: [half, half] }, {}],
  [{ variants: null, winner: null, timezone: "recipient" }, {}],
  [{ variants: [half, half], winner: { metric: "opens", after_minutes: 1 } }, {}],
  [{ variants: [half, half], timezone: "recipient" }, { timezone: ["Variants cannot be sent by time zone."] }],
  [
    { variants: [{ percent: 33.333 }, { percent: 66.667 }] },
    {
      variants: [0, 1].map((n) => `Item at index ${n}: percent: Ensure that there are no more than 2 decimal places.`),
    },
  ],
  [
    { variants: [half, half], winner: { metric: "opens", after_minutes: 1, after: 2 } },
    { winner: ["after: Unknown field."] },
  ],
] as const)("%j is wrong as %j", (given, errors) => {
  expect(testErrors(given as Parameters<typeof testErrors>[0])).toEqual(errors);
});

test("an invalid subject is reported with its position", () => {
  const { variants } = testErrors({ variants: [{ ...half, subject: "Hello [[" }, half] });
  expect(variants).toHaveLength(1);
  expect(variants![0]).toMatch(/^Item at index 0: subject: /);
});
