/** The value below which this share of them lies, of values in ascending order; 0 of none. */
export const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
