/** Posts events to tenants' addresses: each new connection is checked and pinned, bounded in time and size, never redirected. */
import type { LookupFunction } from "node:net";
import type { Agent, Dispatcher } from "undici";
import { config } from "../lib/config.ts";
import { literalAddress } from "../lib/ssrf/address-range.ts";
import { type PinnedAddress, resolvePublic } from "../lib/ssrf/guard.ts";

export const TIMEOUT_MS = 10_000;
/** An answer whose body is longer, or stalls for longer, costs its connection. */
const MAX_ANSWER_BYTES = 64 * 1024;
const ANSWER_STALLS_MS = 1_000;
const MAX_QUOTED_BYTES = 512;
/** Shorter than the 5 s after which common servers close an idle connection. */
const IDLE_MS = 4_000;
/** A busy connection is replaced after this time, so that a host that has moved is resolved and checked again. */
const RECONNECT_MS = 60_000;
/** Several addresses are tried in turn; the last one may take as long as the attempt. */
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
  /** The beginning of a refusal's body; empty where the event was taken. */
  says: string;
}

const resolveHost: Resolve = (host) => resolvePublic(host, { allowPrivate: config().ALLOW_PRIVATE_NETWORKS });

/** Gives `connect` only addresses that were checked; a second answer of the DNS can change nothing. */
const checkedLookup =
  (resolve: Resolve): LookupFunction =>
  (host, { all }, callback) => {
    resolve(host).then(
      (addresses) => (all ? callback(null, addresses) : callback(null, addresses[0]!.address, addresses[0]!.family)),
      (error: NodeJS.ErrnoException) => callback(error, []),
    );
  };

/** A kept connection that the receiver closed at the moment of its next use is no failure of the endpoint. */
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
    // An answer that breaks off or stalls is quoted as far as it came.
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

  /** Loads undici at the first webhook: a process that delivers none saves its memory. */
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
        // TLS skips the check of the certificate's name where it resumes a session.
        maxCachedSessions: 0,
      },
    });
  }

  /** Resolves as soon as enough of the answer is known. Rejects with what the host check or the connection threw. */
  async post({ url, headers, body }: EventPost): Promise<Answer> {
    const { origin, hostname, pathname, search } = new URL(url);
    // An IP address never reaches the lookup.
    if (literalAddress(hostname) !== null) await this.#resolve(hostname);
    this.#agent ??= this.#open();
    const agent = await this.#agent;
    if (this.isStopped) throw new Error("The sender of webhooks has stopped");
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const ask = () => agent.request({ method: "POST", origin, path: pathname + search, headers, body, signal });
    const answer = await ask().catch((error) => {
      if (!wasAnsweredBefore(error)) throw error;
      return ask();
    });
    const status = answer.statusCode;
    if (status < 200 || status >= 300) return { status, says: await beginningOf(answer.body) };
    // Not awaited: the status alone acknowledges. Reading the rest keeps the connection.
    void answer.body.dump({ limit: MAX_ANSWER_BYTES }).catch(() => {});
    return { status, says: "" };
  }

  /** Ends all attempts under way, and closes the kept connections. */
  async stop(): Promise<void> {
    this.isStopped = true;
    const agent = await this.#agent;
    await agent?.destroy(new Error("The sender of webhooks has stopped"));
  }
}
