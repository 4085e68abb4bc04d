/** Signs and posts one event, reports the result, and holds the retry schedule. */
import type { ClaimedDelivery } from "../../models/statements/webhook-deliveries.ts";
import { config } from "../lib/config.ts";
import { counter, histogram } from "../lib/metrics.ts";
import { toOneLine } from "../lib/one-line.ts";
import { unseal } from "../lib/secrets.ts";
import { HostError, isPermittedHost } from "../lib/ssrf/guard.ts";
import { attemptOver, beginAttempt, traceHeaders } from "./attempt-span.ts";
import { type EventPoster, TIMEOUT_MS } from "./post.ts";
import { signedHeaders, signingKey } from "./signature.ts";

const MAX_ERROR_LENGTH = 300;
const RETRY_AFTER_SECONDS = [5, 30, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600];

/** Seconds until the next attempt after `attempts` failures; null after the last one. */
export const retryAfterSeconds = (attempts: number): number | null => RETRY_AFTER_SECONDS[attempts - 1] ?? null;

export type AttemptResult = { ok: boolean; responseStatus: number | null; error: string | null };

const attempts = counter("flockmail_webhook_attempts_total", "Attempts to deliver a webhook, by result.", ["result"]);
const durations = histogram(
  "flockmail_webhook_attempt_duration_seconds",
  "Time of one attempt, from resolving the host to the answer.",
  ["result"],
  [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
);

const failed = (error: string, responseStatus: number | null = null): AttemptResult => ({
  ok: false,
  responseStatus,
  // The text may quote the receiver's answer and is stored in one statement with other results.
  error: toOneLine(error).slice(0, MAX_ERROR_LENGTH).toWellFormed(),
});

async function send(
  claimed: ClaimedDelivery,
  trace: Record<string, string>,
  poster: EventPoster,
): Promise<AttemptResult> {
  const { url, payload, secret_sealed, old_secret_sealed, endpoint_id } = claimed;
  const { protocol, hostname } = new URL(url);
  if (protocol !== "https:" && !config().ALLOW_PRIVATE_NETWORKS && !isPermittedHost(hostname))
    return failed("The URL must start with https://.");
  const sealed = old_secret_sealed ? [secret_sealed, old_secret_sealed] : [secret_sealed];
  const keys = sealed.map((envelope) => signingKey(unseal(envelope, endpoint_id)));
  const headers = {
    "content-type": "application/json",
    "user-agent": "Flockmail-Webhooks/1.0",
    ...signedHeaders(keys, claimed.event_id, payload),
    ...trace,
  };
  const { status, quotedBody } = await poster.post({ url, headers, body: payload });
  if (status >= 200 && status < 300) return { ok: true, responseStatus: status, error: null };
  if (status >= 300 && status < 400)
    return failed(`The endpoint answered ${status}; redirects are not followed.`, status);
  return failed(
    quotedBody.trim() === "" ? `Answered ${status}.` : `The endpoint answered ${status}: ${quotedBody.trim()}`,
    status,
  );
}

function sentenceFor(error: Error & { code?: string }): string {
  if (error instanceof HostError) return error.message;
  if (error.name === "TimeoutError" || error.code === "UND_ERR_CONNECT_TIMEOUT")
    return `No answer within ${TIMEOUT_MS / 1000} seconds.`;
  if (error.code === "UND_ERR_SOCKET") return "The connection was closed before an answer arrived.";
  // All addresses of the host failed: report the first error.
  if (error instanceof AggregateError) return sentenceFor(error.errors[0]);
  const { code, message } = error;
  return code && !message.includes(code) ? `${message} (${code})` : message;
}

async function tryToSend(
  claimed: ClaimedDelivery,
  trace: Record<string, string>,
  poster: EventPoster,
): Promise<AttemptResult | null> {
  try {
    return await send(claimed, trace, poster);
  } catch (error) {
    return poster.isStopped ? null : failed(sentenceFor(error as Error));
  }
}

/** Delivers one event. Returns null if this process stopped first; that does not count as an attempt. */
export async function attempt(claimed: ClaimedDelivery, poster: EventPoster): Promise<AttemptResult | null> {
  const startedMs = performance.now();
  const span = await beginAttempt(claimed);
  const attempted = await tryToSend(claimed, traceHeaders(span), poster);
  const result = attempted === null ? "interrupted" : attempted.ok ? "acknowledged" : "failed";
  attempts.inc({ result });
  durations.observe({ result }, (performance.now() - startedMs) / 1_000);
  attemptOver(span, result, attempted?.responseStatus ?? null);
  return attempted;
}
