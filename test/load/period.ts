/**
 * Early: after the start, when caches are full and code is compiled (the second fifth of a run). Late: its last fifth. What
 * is the same in both did not grow.
 */
export type Period = "early" | "late" | undefined;

export function periodOf(begunMs: number, untilMs: number, nowMs = Date.now()): Period {
  const fifth = Math.floor((5 * (nowMs - begunMs)) / (untilMs - begunMs));
  if (fifth === 1) return "early";
  return fifth >= 4 ? "late" : undefined;
}
