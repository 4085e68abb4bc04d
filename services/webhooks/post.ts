/**
 * Posts events to companies' endpoints. Every new connection is checked against the SSRF rules and pinned to the
 * checked address; time and size are limited, and redirects are not followed.
 */
import type { LookupFunction } from "node:net";
import type { Agent, Dispatcher } from "undici";
import { config } from "../lib/config.ts";
import { literalAddress } from "../lib/ssrf/address-range.ts";
import { type PinnedAddress, resolvePublic } from "../lib/ssrf/guard.ts";

export const TIMEOUT_MS = 10_000;
/** Limits of an answer's body; exceeding one closes the connection. */
const MAX_ANSWER_BYTES = 64 * 1024;
const ANSWER_STALLS_MS = 1_000;
const MAX_QUOTED_BYTES = 512;
/** Shorter than the 5 s after which common servers close idle connections. */
const IDLE_MS = 4_000;
/** Maximum age of a connection, so that a host that has moved is resolved and checked again. */
const RECONNECT_MS = 60_000;
/** Time limit per address before the next one is tried; the last address may use the whole timeout. */
const NEXT_ADDRESS_MS = 2_000;

type Resolve = (host: string) => Promise<PinnedAddress[]>;
type Body = Dispatcher.ResponseData["body"];

interface EventPost {
  url: string;
  headers: Record<string, string>;
  body: string;
}

export interface Answer {
  status: number;
  /** Beginning of the body of a refusal; empty on success. */
  quotedBody: string;
}

const resolveHost: Resolve = (host) => resolvePublic(host, { allowPrivate: config().ALLOW_PRIVATE_NETWORKS });

/** Passes only checked addresses to `connect`, so that a later DNS answer cannot replace them. */
const checkedLookup =
  (resolve: Resolve): LookupFunction =>
  (host, { all }, callback) => {
    resolve(host).then(
      (addresses) => (all ? callback(null, addresses) : callback(null, addresses[0]!.address, addresses[0]!.family)),
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };

/**
 * Detects a kept-alive connection that the receiver closed just before its reuse, which is not a failure of the
 * endpoint.
 */
const wasAnsweredBefore = (error: { code?: string; socket?: { bytesRead?: number } }) =>
  error.code === "UND_ERR_SOCKET" && (error.socket?.bytesRead ?? 0) > 0;

async function beginningOf(body: Body): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk as Buffer);
      bytes += (chunk as Buffer).length;
      if (bytes >= MAX_QUOTED_BYTES) break;
    }
  } catch {
    // Quote what arrived before the answer broke off or stalled.
  }
  return Buffer.concat(chunks).subarray(0, MAX_QUOTED_BYTES).toString("utf8");
}

export class EventPoster {
  readonly #resolve: Resolve;
  #agent: Promise<Agent> | undefined;
  isStopped = false;

  constructor(resolve = resolveHost) {
    this.#resolve = resolve;
  }

  /** Loads undici at the first webhook; a process that delivers none saves the memory. */
  async #open(): Promise<Agent> {
    const undici = await import("undici");
    return new undici.Agent({
      bodyTimeout: ANSWER_STALLS_MS,
      clientTtl: RECONNECT_MS,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MS,
      connect: {
        lookup: checkedLookup(this.#resolve),
        timeout: TIMEOUT_MS,
        autoSelectFamily: true,
        autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
        // Session resumption would skip the check of the certificate's name.
        maxCachedSessions: 0,
      },
    });
  }

  /**
   * Resolves when the status (and the quoted body of a refusal) is known. Rejects with the error of the host check or
   * the connection.
   */
  async post({ url, headers, body }: EventPost): Promise<Answer> {
    const { origin, hostname, pathname, search } = new URL(url);
    // Literal IP addresses bypass the lookup, so check them here.
    if (literalAddress(hostname) !== null) await this.#resolve(hostname);
    this.#agent ??= this.#open();
    const agent = await this.#agent;
    if (this.isStopped) throw new Error("The sender of webhooks has stopped");
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const request = () => agent.request({ method: "POST", origin, path: pathname + search, headers, body, signal });
    const answer = await request().catch((error) => {
      if (!wasAnsweredBefore(error)) throw error;
      return request();
    });
    const status = answer.statusCode;
    if (status < 200 || status >= 300) return { status, quotedBody: await beginningOf(answer.body) };
    // Not awaited: the status alone acknowledges. Reading the remaining body allows reuse of the connection.
    void answer.body.dump({ limit: MAX_ANSWER_BYTES }).catch(() => {});
    return { status, quotedBody: "" };
  }

  /** Aborts all attempts in flight and closes all connections. */
  async stop(): Promise<void> {
    this.isStopped = true;
    const agent = await this.#agent;
    await agent?.destroy(new Error("The sender of webhooks has stopped"));
  }
}
