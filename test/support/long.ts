/**
 * Cases of the long family (`npm run test:failures`): they take minutes, or a shorter case in `npm test` proves the
 * same promise.
 */
export const long = process.env.FAILURES === "long";

/** A case that runs in the long families only. */
export const longTest = (name: string, run: () => Promise<void>, timeoutMs?: number): void => {
  if (long) test(name, run, timeoutMs);
};
