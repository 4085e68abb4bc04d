/** Draws faults, targets, times and durations from a seed, so that a run can be repeated. */
import { type Random, randomOf } from "../support/mta/random.ts";
import { type FaultKind, KINDS, type KindName } from "./kinds.ts";

export interface PlannedFault {
  no: number;
  kind: KindName;
  /** A process, a link ("sender-1>redis") or a server. */
  target: string;
  /** Milliseconds since the start of the run. */
  atMs: number;
  durationMs: number;
  /** Starts while the previous fault lasts. */
  together: boolean;
}

export interface PlanOptions {
  seed: number;
  durationMs: number;
  /** Faults of long runs outlast leases and timeouts, those of short runs at least a lease. */
  longestMs: number;
  only?: readonly KindName[];
}

const FIRST_AFTER_MS = 2_000;
const SHORTEST_MS = 500;
/** Separates the consequences of successive faults. */
const GAP_MS = { least: 2_000, most: 8_000 };
const TOGETHER = 0.15;

function drawKind(random: Random, only?: readonly KindName[]): FaultKind {
  const kinds = KINDS.filter(({ name }) => !only || only.includes(name));
  let left = random.next() * kinds.reduce((sum, { weight }) => sum + weight, 0);
  for (const kind of kinds) {
    left -= kind.weight;
    if (left < 0) return kind;
  }
  return kinds.at(-1)!;
}

export function planFaults({ seed, durationMs, longestMs, only }: PlanOptions): PlannedFault[] {
  const random = randomOf(seed);
  const between = (least: number, most: number) => Math.round(least + random.next() * Math.max(0, most - least));
  const plan: PlannedFault[] = [];
  let atMs = FIRST_AFTER_MS;
  for (;;) {
    const kind = drawKind(random, only);
    const target = random.pick(kind.targets);
    const lastsMs = between(SHORTEST_MS, Math.min(longestMs, kind.longestMs ?? longestMs));
    const gapMs = between(Math.min(GAP_MS.least, longestMs), Math.min(GAP_MS.most, longestMs));
    const previous = plan.at(-1);
    // A broken target is not broken again.
    const together =
      previous !== undefined && !previous.together && random.chance(TOGETHER) && !sharesPart(previous, target);
    const startMs = together ? previous.atMs + Math.round(previous.durationMs / 2) : atMs;
    // The last fault is shortened to fit.
    const fitsMs = Math.min(lastsMs, durationMs - startMs);
    if (fitsMs < SHORTEST_MS) return plan;
    plan.push({ no: plan.length + 1, kind: kind.name, target, atMs: startMs, durationMs: fitsMs, together });
    atMs = Math.max(atMs, startMs + fitsMs + gapMs);
  }
}

/** Concatenates the plans of several seeds. */
export function planSeeds(seeds: readonly number[], options: Omit<PlanOptions, "seed">): PlannedFault[] {
  const plans = seeds.map((seed, n) =>
    planFaults({ ...options, seed }).map((fault) => ({ ...fault, atMs: fault.atMs + n * options.durationMs })),
  );
  return plans.flat().map((fault, n) => ({ ...fault, no: n + 1 }));
}

const partsOf = (target: string) => target.split(">");
const sharesPart = ({ target }: PlannedFault, other: string) =>
  partsOf(target).some((part) => partsOf(other).includes(part));
