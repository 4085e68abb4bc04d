/**
 * Line diff with the shortest edit script (E. Myers, "An O(ND) Difference Algorithm", 1986). If two texts differ too
 * much, everything between their common start and end counts as replaced.
 */
export type Line = { kind: "same" | "removed" | "added"; text: string };

/** Lines of the diff with context; a gap stands for unchanged lines that are left out. */
export type ContextLine = (Line & { before: number | null; after: number | null }) | { kind: "gap"; lines: number };

/** Maximum number of edits. Time and memory grow with its square: 1,000 edits need 8 MB. */
const MAX_EDITS = 1_000;

/** Furthest point that each step of the search reached on each diagonal; undefined if the texts differ too much. */
function searchSteps(a: readonly string[], b: readonly string[]): Int32Array[] | undefined {
  const bound = Math.min(a.length + b.length, MAX_EDITS);
  const middle = bound + 1;
  const furthest = new Int32Array(2 * bound + 3);
  const steps: Int32Array[] = [];
  for (let edits = 0; edits <= bound; edits++) {
    steps.push(furthest.slice(middle - edits - 1, middle + edits + 2));
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const [left, right] = [furthest[middle + diagonal - 1]!, furthest[middle + diagonal + 1]!];
      const isAddition = diagonal === -edits || (diagonal !== edits && left < right);
      let x = isAddition ? right : left + 1;
      while (x < a.length && x - diagonal < b.length && a[x] === b[x - diagonal]) x++;
      furthest[middle + diagonal] = x;
      if (x >= a.length && x - diagonal >= b.length) return steps;
    }
  }
  return undefined;
}

/** Traces the edit script back from the ends of both texts. */
function traceScript(a: readonly string[], b: readonly string[], steps: readonly Int32Array[]): Line[] {
  const lines: Line[] = [];
  let [x, y] = [a.length, b.length];
  for (let edits = steps.length - 1; edits >= 0; edits--) {
    const at = (diagonal: number) => steps[edits]![diagonal + edits + 1]!;
    const diagonal = x - y;
    const isAddition = diagonal === -edits || (diagonal !== edits && at(diagonal - 1) < at(diagonal + 1));
    const from = isAddition ? diagonal + 1 : diagonal - 1;
    const fromX = edits === 0 ? 0 : at(from);
    const fromY = edits === 0 ? 0 : fromX - from;
    while (x > fromX && y > fromY) {
      lines.push({ kind: "same", text: a[--x]! });
      y--;
    }
    if (edits === 0) break;
    if (isAddition) lines.push({ kind: "added", text: b[--y]! });
    else lines.push({ kind: "removed", text: a[--x]! });
  }
  return lines.reverse();
}

const all = (kind: Line["kind"], texts: readonly string[]): Line[] => texts.map((text) => ({ kind, text }));

/** Splits a text into lines; an empty text has none. */
const linesOf = (text: string): string[] => (text === "" ? [] : text.split(/\r\n|\r|\n/));

export function diffOf(before: string, after: string): Line[] {
  const [a, b] = [linesOf(before), linesOf(after)];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  const [old, now] = [a.slice(head, a.length - tail), b.slice(head, b.length - tail)];
  const steps = searchSteps(old, now);
  return [
    ...all("same", a.slice(0, head)),
    ...(steps ? traceScript(old, now, steps) : [...all("removed", old), ...all("added", now)]),
    ...all("same", a.slice(a.length - tail)),
  ];
}

const CONTEXT = 3;

/** Changed lines with three lines of context, and gaps with the number of lines left out. Empty if nothing differs. */
export function withContext(lines: readonly Line[], maxLines = 2_000): ContextLine[] {
  const isNear = new Uint8Array(lines.length);
  for (const [n, { kind }] of lines.entries()) {
    if (kind !== "same") isNear.fill(1, Math.max(0, n - CONTEXT), n + CONTEXT + 1);
  }
  if (!isNear.includes(1)) return [];
  const shown: ContextLine[] = [];
  let [before, after, left] = [0, 0, 0];
  for (const [n, line] of lines.entries()) {
    if (line.kind !== "added") before++;
    if (line.kind !== "removed") after++;
    if (!isNear[n] || shown.length >= maxLines) {
      left++;
      continue;
    }
    if (left > 0) shown.push({ kind: "gap", lines: left });
    left = 0;
    shown.push({
      ...line,
      before: line.kind === "added" ? null : before,
      after: line.kind === "removed" ? null : after,
    });
  }
  if (left > 0) shown.push({ kind: "gap", lines: left });
  return shown;
}
