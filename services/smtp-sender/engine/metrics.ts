import { counter, histogram } from "../../lib/metrics.ts";
import type { Outcome } from "../delivery/outcome.ts";

const mails = counter("flockmail_mails_total", "Recipients by result of a delivery attempt.", ["outcome"]);
const transactions = histogram(
  "flockmail_smtp_transaction_duration_seconds",
  "Time from handing over a message to the server's answer.",
  ["result"],
  [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
);
const waits = counter("flockmail_limiter_waits_total", "Times a batch exceeded a limit.", ["limit"]);

/** Counts this node's recipients by outcome. */
export interface OutcomeCounts {
  sent: number;
  failed: number;
  deferred: number;
}

export function mailSettled(counts: OutcomeCounts, outcome: Outcome["status"]): void {
  if (outcome === "queued") return;
  mails.inc({ outcome });
  counts[outcome === "sent" || outcome === "deferred" ? outcome : "failed"]++;
}

export const smtpAnswered = (kind: string, seconds: number): void => transactions.observe({ result: kind }, seconds);

/** Copy of `waits` for the node's status: a single prom-client counter cannot be read without all others. */
const waited = { hour: 0, day: 0, second: 0, domain: 0 };

export function limiterWaited(limit: keyof typeof waited): void {
  waited[limit]++;
  waits.inc({ limit });
}

export const limiterWaits = (): Readonly<typeof waited> => ({ ...waited });
