/** One attempt to deliver one event: resolve and check the host, sign, send, tell how it went. */
import { config } from "../lib/config.ts";
import { toOneLine } from "../lib/one-line.ts";
import { unseal } from "../lib/secrets.ts";
import { HostError, resolvePublic } from "../lib/ssrf/guard.ts";
import type { Claimed } from "./claim.ts";
import { postToFirst } from "./post.ts";
import { signedHeaders } from "./signature.ts";

const TIMEOUT_MS = 10_000;
const MAX_ERROR_LENGTH = 300;

export type Attempted = { ok: boolean; responseStatus: number | null; error: string | null };

const failed = (error: string, responseStatus: number | null = null): Attempted => ({
  ok: false,
  responseStatus,
  // It may quote the receiver, and is stored together with the outcomes of others.
  error: toOneLine(error).slice(0, MAX_ERROR_LENGTH).toWellFormed(),
});

function secretsOf({ endpoint_id, secret_sealed, old_secret_sealed }: Claimed): string[] {
  const sealed = old_secret_sealed ? [secret_sealed, old_secret_sealed] : [secret_sealed];
  return sealed.map((envelope) => unseal(envelope, endpoint_id));
}

async function send(claimed: Claimed, signal: AbortSignal): Promise<Attempted> {
  const { ALLOW_PRIVATE_NETWORKS: allowPrivate } = config();
  const url = new URL(claimed.url);
  if (url.protocol === "http:" && !allowPrivate) return failed("The URL must begin with https://.");
  const addresses = await resolvePublic(url.hostname, { allowPrivate });
  const headers = {
    "content-type": "application/json",
    "user-agent": "Flockmail-Webhooks/1.0",
    ...signedHeaders(secretsOf(claimed), claimed.event_id, claimed.payload),
  };
  const status = await postToFirst(addresses, { url, headers, body: claimed.payload, signal });
  if (status >= 200 && status < 300) return { ok: true, responseStatus: status, error: null };
  return failed(
    status >= 300 && status < 400 ? `Answered ${status}; redirects are not followed.` : `Answered ${status}.`,
    status,
  );
}

/** Null when `stop` ended it: nobody's failure, and not an attempt. */
export async function attempt(claimed: Claimed, stop: AbortSignal): Promise<Attempted | null> {
  const timeout = AbortSignal.timeout(TIMEOUT_MS);
  try {
    return await send(claimed, AbortSignal.any([stop, timeout]));
  } catch (error) {
    if (stop.aborted) return null;
    if (timeout.aborted) return failed(`No answer within ${TIMEOUT_MS / 1000} seconds.`);
    if (error instanceof HostError) return failed(error.message);
    const { code, message } = error as NodeJS.ErrnoException;
    return failed(code && !message.includes(code) ? `${message} (${code})` : message);
  }
}
