/**
 * Deals out places one after the other, so that at any moment each share has, to less than one place, its percentage of all
 * that were dealt. What was dealt stays: a later place changes none before it.
 *
 * Of the shares that are owed a place it goes to the one that must have it soonest (R. Tijdeman, "The chairman assignment
 * problem", 1980); of two alike to the first. What the percentages leave of 100 is one more share, the rest.
 */

/** Percentages have at most two decimals: as whole numbers nothing is rounded on the way. */
export const hundredthsOf = (percent: number): number => Math.round(percent * 100);

const ALL = hundredthsOf(100);

/** The index of a share for each place; null is the rest. `before`: places that each share, and last the rest, has already. */
export function shareOut(percents: readonly number[], before: readonly number[], places: number): (number | null)[] {
  const parts = percents.map(hundredthsOf);
  parts.push(ALL - parts.reduce((sum, part) => sum + part, 0));
  const given = parts.map((_, i) => before[i] ?? 0);
  const dealt: (number | null)[] = [];
  for (let at = given.reduce((sum, n) => sum + n, 0) + 1; dealt.length < places; at++) {
    const i = nextShare(parts, given, at);
    given[i]! += 1;
    dealt.push(i === percents.length ? null : i);
  }
  return dealt;
}

/** Of the share: the place by which it must have one more. */
const due = (part: number, given: number) => Math.ceil(((given + 1) * ALL) / part);

/** There always is one: together they are owed one place more than they have. */
function nextShare(parts: readonly number[], given: readonly number[], at: number): number {
  let next = -1;
  let soonest = Number.POSITIVE_INFINITY;
  for (const [i, part] of parts.entries()) {
    // Less than what it has would be owed at this place: it would get more than its share, rounded up.
    if (part * at <= given[i]! * ALL) continue;
    const by = due(part, given[i]!);
    if (by < soonest) [next, soonest] = [i, by];
  }
  return next;
}
