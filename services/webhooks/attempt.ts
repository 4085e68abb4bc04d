/** One attempt to deliver one event: resolve and check the host, sign, send, report what came of it; and when to try again. */
import { LRUCache } from "lru-cache";
import type { ClaimedDelivery } from "../../models/statements/webhook-deliveries.ts";
import { atMost } from "../lib/at-most.ts";
import { config } from "../lib/config.ts";
import { counter, histogram } from "../lib/metrics.ts";
import { toOneLine } from "../lib/one-line.ts";
import { unseal } from "../lib/secrets.ts";
import { HostError, isPermittedHost, type PinnedAddress, resolvePublic } from "../lib/ssrf/guard.ts";
import { TtlCache } from "../lib/ttl-cache.ts";
import { attemptOver, beginAttempt, traceHeaders } from "./attempt-span.ts";
import { postToFirst } from "./post.ts";
import { signedHeaders } from "./signature.ts";

const TIMEOUT_MS = 10_000;
const MAX_ERROR_LENGTH = 300;
const RETRY_AFTER_SECONDS = [5, 30, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600];

/** Seconds until the next attempt after `attempts` failed ones; null: that was the last one. */
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
  // It may quote the receiver, and is stored together with the results of others.
  error: toOneLine(error).slice(0, MAX_ERROR_LENGTH).toWellFormed(),
});

/**
 * Addresses by host and by what was permitted, each one checked: a receiver with a thousand events waiting is looked up
 * once and not a thousand times (67 µs each). Shorter than the first pause after a failure, so that the next attempt finds
 * a host that has moved.
 */
const resolved = new TtlCache<PinnedAddress[]>(4_000, 2_000);

/** By endpoint and envelope, so that a rotated secret is another one. Opening takes 11 µs, a tenth of a delivery. */
const opened = new LRUCache<string, string>({ ...atMost(2_000) });

function secretOf(endpointId: string, envelope: Buffer): string {
  const key = endpointId + envelope.toString("latin1");
  const known = opened.get(key);
  if (known !== undefined) return known;
  const secret = unseal(envelope, endpointId);
  opened.set(key, secret);
  return secret;
}

function secretsOf({ endpoint_id, secret_sealed, old_secret_sealed }: ClaimedDelivery): string[] {
  const sealed = old_secret_sealed ? [secret_sealed, old_secret_sealed] : [secret_sealed];
  return sealed.map((envelope) => secretOf(endpoint_id, envelope));
}

async function send(
  claimed: ClaimedDelivery,
  trace: Record<string, string>,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const { ALLOW_PRIVATE_NETWORKS: allowPrivate } = config();
  const url = new URL(claimed.url);
  if (url.protocol === "http:" && !allowPrivate && !isPermittedHost(url.hostname))
    return failed("The URL must begin with https://.");
  const addresses = await resolved.get(`${url.hostname} ${allowPrivate}`, () =>
    resolvePublic(url.hostname, { allowPrivate }),
  );
  const headers = {
    "content-type": "application/json",
    "user-agent": "Flockmail-Webhooks/1.0",
    ...signedHeaders(secretsOf(claimed), claimed.event_id, claimed.payload),
    ...trace,
  };
  const { status, says } = await postToFirst(addresses, { url, headers, body: claimed.payload, signal });
  if (status >= 200 && status < 300) return { ok: true, responseStatus: status, error: null };
  if (status >= 300 && status < 400) return failed(`Answered ${status}; redirects are not followed.`, status);
  return failed(says.trim() === "" ? `Answered ${status}.` : `Answered ${status}: ${says.trim()}`, status);
}

async function tryToSend(
  claimed: ClaimedDelivery,
  trace: Record<string, string>,
  stop: AbortSignal,
): Promise<AttemptResult | null> {
  // By hand: AbortSignal.any() and AbortSignal.timeout() leave weak references for the garbage collector with each attempt.
  const ending = new AbortController();
  let isLate = false;
  const end = () => ending.abort();
  const late = setTimeout(() => {
    isLate = true;
    end();
  }, TIMEOUT_MS);
  stop.addEventListener("abort", end);
  try {
    stop.throwIfAborted();
    return await send(claimed, trace, ending.signal);
  } catch (error) {
    if (stop.aborted) return null;
    if (isLate) return failed(`No answer within ${TIMEOUT_MS / 1000} seconds.`);
    if (error instanceof HostError) return failed(error.message);
    const { code, message } = error as NodeJS.ErrnoException;
    return failed(code && !message.includes(code) ? `${message} (${code})` : message);
  } finally {
    clearTimeout(late);
    stop.removeEventListener("abort", end);
  }
}

/** Null when `stop` ended it: nobody's failure, and not an attempt. */
export async function attempt(claimed: ClaimedDelivery, stop: AbortSignal): Promise<AttemptResult | null> {
  const startedMs = performance.now();
  const span = await beginAttempt(claimed);
  const attempted = await tryToSend(claimed, traceHeaders(span), stop);
  const result = attempted === null ? "interrupted" : attempted.ok ? "acknowledged" : "failed";
  attempts.inc({ result });
  durations.observe({ result }, (performance.now() - startedMs) / 1_000);
  attemptOver(span, result, attempted?.responseStatus ?? null);
  return attempted;
}
