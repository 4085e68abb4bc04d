/** Functions that tests run in worker threads. */
export const echo = <T>(input: T): T => input;

export function compute(seconds: number): number {
  const until = performance.now() + seconds * 1_000;
  let rounds = 0;
  while (performance.now() < until) rounds++;
  return rounds;
}

export function hoard(): number {
  const kept: number[][] = [];
  for (;;) kept.push(Array.from({ length: 10_000 }, () => kept.length));
}

export function fail(): never {
  throw new RangeError("A defect");
}

/** The environment that a thread could reveal to strangers. */
export const surroundings = () => ({ ...process.env });
