/** The value below which this share of the ascending values lies; 0 if there are none. */
export const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
