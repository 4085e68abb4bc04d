/** Fetches a short text from a public address: checked, pinned, bounded in time and size, without redirects. */
import type { IncomingMessage } from "node:http";
import { type PinnedAddress, resolvePublic } from "./guard.ts";
import { pinnedRequest } from "./pinned-request.ts";

interface Bounds {
  maxBytes: number;
  timeoutMs: number;
}

/** The server answered with something else. */
export class OtherAnswer extends Error {}

function readBody(response: IncomingMessage, maxBytes: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    response.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= maxBytes) return void chunks.push(chunk);
      reject(new OtherAnswer(`The response is larger than ${maxBytes} bytes.`));
      response.destroy();
    });
    response.on("end", () => resolve(Buffer.concat(chunks).toString()));
    response.on("error", reject);
    response.on("aborted", () => reject(new Error("The response ended early.")));
  });
}

async function get(url: URL, address: PinnedAddress, { maxBytes }: Bounds, signal: AbortSignal): Promise<string> {
  const response = await pinnedRequest(url, address, { method: "GET", signal });
  if (response.statusCode !== 200) {
    response.destroy();
    throw new OtherAnswer(`It answered ${response.statusCode}.`);
  }
  return readBody(response, maxBytes);
}

/** Returns the body of a 200. Rejects for any other answer, and for a host outside the public internet (HostError). */
export async function getText(
  url: URL,
  bounds: Bounds,
  host: Parameters<typeof resolvePublic>[1] = { allowPrivate: false },
): Promise<string> {
  const signal = AbortSignal.timeout(bounds.timeoutMs);
  const [address] = await resolvePublic(url.hostname, host);
  return get(url, address!, bounds, signal);
}
