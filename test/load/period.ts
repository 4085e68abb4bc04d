/**
 * Periods to compare: "early" is the second fifth of a run, after caches are full and code is compiled; "late" is its
 * last fifth. Equal values mean no growth.
 */
export type Period = "early" | "late" | undefined;

export function periodOf(begunMs: number, untilMs: number, nowMs = Date.now()): Period {
  const fifth = Math.floor((5 * (nowMs - begunMs)) / (untilMs - begunMs));
  if (fifth === 1) return "early";
  return fifth >= 4 ? "late" : undefined;
}
