/** The API as a client sees it. */
import { setTimeout as sleep } from "node:timers/promises";

const TIMEOUT_MS = 30_000;

export type Send = <T>(method: string, path: string, body?: unknown) => Promise<T>;

/**
 * Sends JSON requests to the service. Repeats throttled requests that may be repeated; throws any other refusal with
 * its full text.
 */
export function apiAt(url: string, headers: Record<string, string> = {}): Send {
  const send: Send = async (method, path, body) => {
    const form = body instanceof FormData;
    const response = await fetch(url + path, {
      method,
      headers: { ...headers, ...(body && !form ? { "content-type": "application/json" } : {}) },
      ...(body ? { body: form ? body : JSON.stringify(body) } : {}),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await response.text();
    if (response.status === 429) {
      const seconds = Number(response.headers.get("retry-after") ?? 60);
      process.stdout.write(`  (${method} ${path} is throttled, continuing in ${seconds} s)\n`);
      await sleep(seconds * 1_000);
      return send(method, path, body);
    }
    if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status}: ${text}`);
    return JSON.parse(text || "null");
  };
  return send;
}
