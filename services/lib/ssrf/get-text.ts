/** GET of a short text from a public address: checked, pinned, bounded in time and size, never redirected. */
import { type IncomingMessage, request as plainRequest } from "node:http";
import { request } from "node:https";
import { isIP } from "node:net";
import { type PinnedAddress, resolvePublic } from "./guard.ts";

interface Bounds {
  maxBytes: number;
  timeoutMs: number;
}

/** It answered, and something else than asked for. */
export class OtherAnswer extends Error {}

function read(response: IncomingMessage, maxBytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    response.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBytes) return void chunks.push(chunk);
      reject(new OtherAnswer(`It answered more than ${maxBytes} bytes.`));
      response.destroy();
    });
    response.on("end", () => resolve(Buffer.concat(chunks).toString()));
    response.on("error", reject);
    response.on("aborted", () => reject(new Error("The answer ended in its middle.")));
  });
}

async function get(url: URL, address: PinnedAddress, { maxBytes }: Bounds, signal: AbortSignal): Promise<string> {
  const hostname = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const isPlain = url.protocol === "http:";
    const ask = isPlain ? plainRequest : request;
    ask({
      host: address.address,
      family: address.family,
      port: url.port || (isPlain ? 80 : 443),
      path: `${url.pathname}${url.search}`,
      ...(isIP(hostname) ? {} : { servername: hostname }),
      headers: { host: url.host },
      // A kept connection would outlive the one request that it is for.
      agent: false,
      signal,
    })
      .on("response", resolve)
      .on("error", reject)
      .end();
  });
  if (response.statusCode !== 200) {
    response.destroy();
    throw new OtherAnswer(`It answered ${response.statusCode}.`);
  }
  return read(response, maxBytes);
}

/** The body of a 200. Rejects for any other answer, and for a host that is not on the public internet (HostError). */
export async function getText(
  url: URL,
  bounds: Bounds,
  host: Parameters<typeof resolvePublic>[1] = { allowPrivate: false },
): Promise<string> {
  const signal = AbortSignal.timeout(bounds.timeoutMs);
  const [address] = await resolvePublic(url.hostname, host);
  return get(url, address!, bounds, signal);
}
