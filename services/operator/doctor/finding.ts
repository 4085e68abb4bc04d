/** Findings, and how checks run: in parallel, each with its own timeout, none failing because of another. */
import type { ReturnsOf } from "../../contracts.ts";
import { redactText } from "../../lib/redact.ts";
import { withTimeout } from "../../lib/timeouts.ts";

export type Finding = ReturnsOf<"operator.doctor">[number];

export const CHECK_MS = 5_000;

/** Builds findings of one area. `advice` is one sentence with the recommended action. */
export const findingsOf = (area: string) => ({
  ok: (check: string, found: string): Finding => ({ area, check, state: "ok", found, advice: "" }),
  warn: (check: string, found: string, advice: string): Finding => ({ area, check, state: "warn", found, advice }),
  fail: (check: string, found: string, advice: string): Finding => ({ area, check, state: "fail", found, advice }),
});

export interface Check {
  area: string;
  /** Reported if the work throws or times out. */
  check: string;
  advice: string;
  work(): Promise<Finding[]>;
}

async function run({ area, check, advice, work }: Check): Promise<Finding[]> {
  try {
    return await withTimeout(work(), CHECK_MS, () => new Error(`no answer within ${CHECK_MS / 1_000} seconds`));
  } catch (error) {
    const { message, code } = error as Error & { code?: string };
    return [findingsOf(area).fail(check, redactText(message || code || "no answer"), advice)];
  }
}

/** Findings in the order of the checks. */
export const runChecks = async (checks: readonly Check[]): Promise<Finding[]> =>
  (await Promise.all(checks.map(run))).flat();

/** A slower answer to a trivial request is worth a warning. */
const SLOW_MS = 50;

/** Measures how long a server takes to answer. */
export async function latencyFinding(
  area: string,
  check: string,
  ask: () => Promise<unknown>,
  advice: string,
): Promise<Finding> {
  const began = performance.now();
  await ask();
  const ms = Math.round((performance.now() - began) * 10) / 10;
  const { ok, warn } = findingsOf(area);
  return ms > SLOW_MS ? warn(check, `${ms} ms`, advice) : ok(check, `${ms} ms`);
}

/** A larger difference breaks tokens, leases and event times. */
const CLOCK_WARN_MS = 1_000;
const CLOCK_FAIL_MS = 30_000;

/**
 * Compares a clock with ours. The reading happened between two of our timestamps, and the round trip is not counted as
 * an error. `whose` is, for example, "The database's clock".
 */
export function clockFinding(
  area: string,
  check: string,
  {
    whose,
    theirsMs,
    askedAtMs,
    answeredAtMs,
  }: { whose: string; theirsMs: number; askedAtMs: number; answeredAtMs: number },
): Finding {
  const offMs = theirsMs < askedAtMs ? theirsMs - askedAtMs : Math.max(0, theirsMs - answeredAtMs);
  const { ok, warn, fail } = findingsOf(area);
  const found =
    offMs === 0
      ? "agrees with this process's"
      : `${(Math.abs(offMs) / 1_000).toFixed(1)} s ${offMs > 0 ? "ahead of" : "behind"} this process's`;
  const advice = `${whose} and this process's differ: let both machines follow the same time servers (chrony, systemd-timesyncd).`;
  if (Math.abs(offMs) >= CLOCK_FAIL_MS) return fail(check, found, advice);
  return Math.abs(offMs) >= CLOCK_WARN_MS ? warn(check, found, advice) : ok(check, found);
}
