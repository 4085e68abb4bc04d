/** Reproducible random choices from a seed. */
export interface Random {
  /** Returns a number from 0 up to, not including, 1. */
  next(): number;
  /** Returns an integer from 0 up to, not including, n. */
  below(n: number): number;
  chance(probability: number): boolean;
  pick<T>(from: readonly T[]): T;
}

/** mulberry32: short, and good enough for choices. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (n: number) => Math.floor(next() * n);
  return { next, below, chance: (probability) => next() < probability, pick: (from) => from[below(from.length)]! };
}
