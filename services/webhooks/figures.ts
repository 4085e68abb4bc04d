import { counter, histogram } from "../lib/metrics.ts";
import type { Attempted } from "./attempt.ts";

const attempts = counter("flockmail_webhook_attempts_total", "Attempts to deliver a webhook, by result.", ["result"]);
const durations = histogram(
  "flockmail_webhook_attempt_duration_seconds",
  "Time of one attempt, from resolving the host to the answer.",
  ["result"],
  [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
);

/** Null: the process's end interrupted it. */
export function webhookAttempted(attempted: Attempted | null, seconds: number): void {
  const result = attempted === null ? "interrupted" : attempted.ok ? "acknowledged" : "failed";
  attempts.inc({ result });
  durations.observe({ result }, seconds);
}
