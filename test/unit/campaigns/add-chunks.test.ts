import { cutIntoRuns } from "../../../models/statements/add-chunks.ts";

describe("cutting recipients into chunks", () => {
  test("makes one chunk of one recipient", () => {
    expect(cutIntoRuns(1, 1)).toEqual([{ lo: 1, hi: 1 }]);
  });

  test("begins a campaign with small chunks, so that several senders share it", () => {
    expect(cutIntoRuns(1, 1_200).map(({ lo, hi }) => hi - lo + 1)).toEqual([50, 50, 100, 100, 200, 500, 200]);
  });

  test("makes chunks of 500 of a later slice from its first recipient on", () => {
    expect(cutIntoRuns(501, 1_700)).toEqual([
      { lo: 501, hi: 1_000 },
      { lo: 1_001, hi: 1_500 },
      { lo: 1_501, hi: 1_700 },
    ]);
  });

  test.each([1, 49, 50, 51, 500, 501, 20_000])("leaves no gap and no overlap in %i recipients", (count) => {
    const runs = cutIntoRuns(1, count);
    expect(runs[0]!.lo).toBe(1);
    expect(runs.at(-1)!.hi).toBe(count);
    for (const [n, run] of runs.entries()) if (n > 0) expect(run.lo).toBe(runs[n - 1]!.hi + 1);
  });
});
