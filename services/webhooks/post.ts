/** One HTTP request to a tenant's address: pinned, bounded in time and size, never redirected. */
import type { Client } from "undici";
import type { PinnedAddress } from "../lib/ssrf/guard.ts";
import type { Ending } from "./ending.ts";
import type { Target } from "./receiver.ts";
import { connectorTo } from "./tls-sessions.ts";

/** What of an answer is read, so that its connection can be used again; a longer one loses it. */
const MAX_ANSWER_BYTES = 64 * 1024;
/** How long an answer may take once its status is known; what has not come then is not waited for. */
const ANSWER_WITHIN_MS = 1_000;
/** What of a refusal is kept for its user to read. */
const MAX_QUOTED_BYTES = 512;
const IDLE_MS = 4_000;

/**
 * As many as deliveries are under way at the same time (delivery-pump.ts), which come in waves: of fewer the rest were closed after
 * each one, and the next began with as many TLS handshakes, which was three fifths of a delivery's CPU.
 */
const KEPT = 256;
/** By receiver: an address, and the name that its certificate was checked for. Last come, first served. */
const kept = new Map<string, Client[]>();

interface PinnedPost {
  target: Target;
  address: PinnedAddress;
  headers: Record<string, string>;
  body: string;
  ending: Ending;
}

export interface Answered {
  status: number;
  /** How the body of a refusal begins; empty where there is none, and where the event was taken. */
  says: string;
}

interface Connection {
  client: Client;
  key: string;
  /** It has answered before. */
  isKept: boolean;
}

function forget({ key, client }: Connection): void {
  const idle = kept.get(key);
  const at = idle?.indexOf(client) ?? -1;
  if (at >= 0) idle!.splice(at, 1);
  if (idle?.length === 0) kept.delete(key);
}

function keep({ key, client }: Connection): void {
  if (client.destroyed) return;
  const idle = kept.get(key);
  if (!idle) kept.set(key, [client]);
  else if (idle.length < KEPT) idle.push(client);
  else client.destroy();
}

/** The address that was checked, and not its name: nothing is resolved again. The certificate must be the name's (`Host`). */
async function connectionTo(
  { target, address: { address, family } }: PinnedPost,
  which: "kept" | "new",
): Promise<Connection> {
  const key = `${address} ${target.origin}`;
  const idle = which === "kept" ? kept.get(key)?.pop() : undefined;
  if (idle) return { client: idle, key, isKept: true };
  // At the first webhook: a process that delivers none does without its 6 MB.
  const undici = await import("undici");
  const [scheme, usualPort] = target.isTls ? ["https", 443] : ["http", 80];
  const host = family === 6 ? `[${address}]` : address;
  const client = new undici.Client(`${scheme}://${host}:${target.port || usualPort}`, {
    connect: connectorTo(key, undici.buildConnector),
    // The attempt has a time of its own.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: IDLE_MS,
    keepAliveMaxTimeout: IDLE_MS,
  });
  const connection = { client, key, isKept: false };
  client.on("disconnect", () => forget(connection));
  return connection;
}

/** In the words of a socket: the client's own error for a connection that ends where an answer should begin has a code of its own. */
const asSocketError = (error: Error & { code?: string }): NodeJS.ErrnoException =>
  error.code === "UND_ERR_SOCKET"
    ? Object.assign(new Error("The connection was closed before an answer came"), { code: "ECONNRESET" })
    : error;

function exchange(connection: Connection, asked: PinnedPost): Promise<Answered> {
  const { client } = connection;
  const { target, headers, body, ending } = asked;
  return new Promise((resolve, reject) => {
    let status = 0;
    let bytes = 0;
    let begins: Buffer = Buffer.alloc(0);
    let late: NodeJS.Timeout | undefined;
    const say = () => resolve({ status, says: begins.toString("utf8") });
    const ended = () => new Error(`The attempt has ended: ${ending.reason}`);
    const cut = () => void client.destroy(ending.reason ? ended() : null);
    const over = () => {
      clearTimeout(late);
      ending.whenEnded(undefined);
    };
    if (ending.reason) {
      client.destroy();
      return reject(ended());
    }
    ending.whenEnded(cut);
    client.dispatch(
      {
        method: "POST",
        path: target.path,
        headers: { ...headers, host: target.host },
        body,
      },
      {
        onRequestStart() {},
        onResponseStart(_, code) {
          if (code < 200) return;
          status = code;
          late = setTimeout(cut, ANSWER_WITHIN_MS);
          // At once where the event was taken: nobody reads what else the receiver says.
          if (code < 300) say();
        },
        onResponseData(_, chunk) {
          bytes += chunk.length;
          if (begins.length < MAX_QUOTED_BYTES) begins = Buffer.concat([begins, chunk]).subarray(0, MAX_QUOTED_BYTES);
          if (bytes >= MAX_QUOTED_BYTES) say();
          if (bytes > MAX_ANSWER_BYTES) cut();
        },
        onResponseEnd() {
          over();
          say();
          keep(connection);
        },
        onResponseError(_, error) {
          over();
          if (status > 0) say();
          else reject(asSocketError(error));
          client.destroy();
        },
      },
    );
  });
}

/** A kept connection that the other side closed just now is no failure of the endpoint. */
const isStale = ({ code }: NodeJS.ErrnoException, { isKept }: Connection) =>
  isKept && (code === "ECONNRESET" || code === "EPIPE");

/** The answer as soon as enough of it is known. Throws what the connection threw. */
export async function post(asked: PinnedPost): Promise<Answered> {
  const connection = await connectionTo(asked, "kept");
  try {
    return await exchange(connection, asked);
  } catch (error) {
    if (!isStale(error as NodeJS.ErrnoException, connection)) throw error;
    return exchange(await connectionTo(asked, "new"), asked);
  }
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

/** Kept connections would keep the receiver's side waiting for some seconds. */
export function closeIdleConnections(): void {
  for (const client of [...kept.values()].flat()) client.destroy();
  kept.clear();
}
