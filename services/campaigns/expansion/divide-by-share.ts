/**
 * Divides a sequence by percentages, so that every prefix deviates by less than one from each percentage. Assignments
 * never change later.
 *
 * Each position goes to the share with the earliest deadline (R. Tijdeman, "The chairman assignment problem", 1980),
 * ties to the first. What the percentages leave of 100 forms one more share, the remainder.
 */

/** Percentages have at most two decimals, so integers avoid rounding. */
export const hundredthsOf = (percent: number): number => Math.round(percent * 100);

const ALL = hundredthsOf(100);

/**
 * Returns the share's index for each position; null is the remainder. `before` holds how many each share, and last the
 * remainder, already has.
 */
export function divideByShare(
  percents: readonly number[],
  before: readonly number[],
  count: number,
): (number | null)[] {
  const parts = percents.map(hundredthsOf);
  parts.push(ALL - parts.reduce((sum, part) => sum + part, 0));
  const given = parts.map((_, i) => before[i] ?? 0);
  const assigned: (number | null)[] = [];
  for (let at = given.reduce((sum, n) => sum + n, 0) + 1; assigned.length < count; at++) {
    const i = nextShare(parts, given, at);
    given[i]! += 1;
    assigned.push(i === percents.length ? null : i);
  }
  return assigned;
}

/** Position by which the share must get its next one. */
const due = (part: number, given: number) => Math.ceil(((given + 1) * ALL) / part);

/** Always finds one, because the shares together are owed one more than they have. */
function nextShare(parts: readonly number[], given: readonly number[], at: number): number {
  let next = -1;
  let soonest = Number.POSITIVE_INFINITY;
  for (const [i, part] of parts.entries()) {
    // Skips a share that already has its part, rounded up.
    if (part * at <= given[i]! * ALL) continue;
    const dueAt = due(part, given[i]!);
    if (dueAt < soonest) [next, soonest] = [i, dueAt];
  }
  return next;
}
