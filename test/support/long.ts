/**
 * The long families: what takes minutes, or what a shorter case brings about too, runs by hand (`npm run test:failures`), so that
 * `npm test` stays within its ten minutes.
 */
export const long = process.env.FAILURES === "long";

/** A case of the long families alone. */
export const longTest = (name: string, run: () => Promise<void>, timeoutMs?: number): void => {
  if (long) test(name, run, timeoutMs);
};
