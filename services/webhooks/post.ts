/** One HTTP request to a tenant's address: pinned, bounded in time and size, never redirected. */
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { isIP } from "node:net";
import type { PinnedAddress } from "../lib/ssrf/guard.ts";

/** What of an answer is read, so that its connection can be used again; a longer one loses it. */
const MAX_ANSWER_BYTES = 64 * 1024;
const IDLE_MS = 4_000;
/** What of a refusal is kept for its user to read, and how long it is waited for once the status is known. */
const MAX_QUOTED_BYTES = 512;
const QUOTE_WITHIN_MS = 1_000;

/**
 * As many as deliveries are under way at the same time (delivery-pump.ts), which come in waves: of fewer the rest were closed after
 * each one, and the next began with as many TLS handshakes, which was three fifths of a delivery's CPU.
 */
const KEPT = 256;
const agentOptions = { keepAlive: true, keepAliveMsecs: IDLE_MS, maxFreeSockets: KEPT, timeout: IDLE_MS } as const;
const agents = { "http:": new HttpAgent(agentOptions), "https:": new HttpsAgent(agentOptions) };

interface PinnedPost {
  url: URL;
  address: PinnedAddress;
  headers: Record<string, string>;
  body: string;
  signal: AbortSignal;
}

function optionsOf({ url, address, headers, body, signal }: PinnedPost): RequestOptions & { servername?: string } {
  const hostname = url.hostname.replace(/^\[(.*)\]$/, "$1");
  return {
    method: "POST",
    // The address that was checked, and not its name: nothing is resolved again. The certificate must be the name's.
    host: address.address,
    family: address.family,
    port: url.port || (url.protocol === "https:" ? 443 : 80),
    path: `${url.pathname}${url.search}`,
    ...(isIP(hostname) ? {} : { servername: hostname }),
    headers: { ...headers, host: url.host, "content-length": Buffer.byteLength(body) },
    agent: agents[url.protocol as keyof typeof agents],
    signal,
  };
}

export interface Answered {
  status: number;
  /** How the body of a refusal begins; empty where there is none, and where the event was taken. */
  says: string;
}

function drain(response: IncomingMessage, seen: (begins: Buffer, bytes: number) => void): void {
  let bytes = 0;
  let begins: Buffer = Buffer.alloc(0);
  response.on("error", () => {});
  response.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (begins.length < MAX_QUOTED_BYTES) begins = Buffer.concat([begins, chunk]).subarray(0, MAX_QUOTED_BYTES);
    seen(begins, bytes);
    if (bytes > MAX_ANSWER_BYTES) response.destroy();
  });
}

/** At once where the event was taken: nobody reads what else the receiver says. */
function answered(response: IncomingMessage): Promise<Answered> {
  const status = response.statusCode!;
  return new Promise((resolve) => {
    let said: Buffer = Buffer.alloc(0);
    const end = () => {
      clearTimeout(late);
      resolve({ status, says: said.toString("utf8") });
    };
    const late = setTimeout(end, QUOTE_WITHIN_MS);
    drain(response, (begins, bytes) => {
      said = begins;
      if (bytes >= MAX_QUOTED_BYTES) end();
    });
    response.once("close", end);
    if (status >= 200 && status < 300) end();
  });
}

/** A kept connection that the other side closed just now is no failure of the endpoint. */
const isStale = (error: NodeJS.ErrnoException, reused: boolean) =>
  reused && (error.code === "ECONNRESET" || error.code === "EPIPE");

/** The answer as soon as enough of it is known. Throws what the connection threw. */
export function post(asked: PinnedPost, again = true): Promise<Answered> {
  const start = asked.url.protocol === "https:" ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const request = start(optionsOf(asked), (response) => {
      resolve(answered(response));
    });
    request.on("error", (error) => {
      if (again && isStale(error, request.reusedSocket)) resolve(post(asked, false));
      else reject(error);
    });
    request.end(asked.body);
  });
}

/** The connection was never made, so that nothing can have been delivered. */
const NOT_REACHED = new Set(["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "EADDRNOTAVAIL"]);
const MAX_ADDRESSES = 4;

/** To the first of a host's addresses that can be reached: a cluster with IPv6 alone has no way to the IPv4 ones. */
export async function postToFirst(
  addresses: readonly PinnedAddress[],
  asked: Omit<PinnedPost, "address">,
): Promise<Answered> {
  const tried = addresses.slice(0, MAX_ADDRESSES);
  for (const address of tried.slice(0, -1)) {
    try {
      return await post({ ...asked, address });
    } catch (error) {
      if (!NOT_REACHED.has((error as NodeJS.ErrnoException).code ?? "")) throw error;
    }
  }
  return post({ ...asked, address: tried.at(-1)! });
}

/** Kept connections would keep the process alive for some seconds. */
export function closeIdleConnections(): void {
  for (const agent of Object.values(agents)) agent.destroy();
}
