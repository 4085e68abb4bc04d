/** HTTP/1.1 load over keep-alive sockets, with minimal work per timed request. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";

export interface LoadResult {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Number of responses by status. */
  statuses: Record<string, number>;
}

export interface LoadOptions {
  port: number;
  connections: number;
  seconds: number;
  /** The n-th request as bytes on the wire. */
  request: (n: number) => string;
  /** Requests per second over all connections; without it, as fast as answers arrive. */
  pace?: number;
}

const HEAD_END = Buffer.from("\r\n\r\n");

/**
 * Length of the first complete answer in the buffer, or 0. Without Content-Length the body counts as empty; all our
 * responses have it.
 */
function answerLength(bytes: Buffer): number {
  const end = bytes.indexOf(HEAD_END);
  if (end < 0) return 0;
  const length = /\r\ncontent-length: (\d+)/i.exec(bytes.toString("latin1", 0, end))?.[1] ?? "0";
  const total = end + HEAD_END.length + Number(length);
  return bytes.length >= total ? total : 0;
}

async function exchange(socket: Socket, request: string): Promise<string> {
  socket.write(request);
  let bytes: Buffer = Buffer.alloc(0);
  for (;;) {
    const [chunk] = (await once(socket, "data")) as [Buffer];
    bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk]);
    if (answerLength(bytes) > 0) return bytes.toString("latin1", 9, 12);
  }
}

const percentile = (sorted: number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

export async function load({ port, connections, seconds, request, pace }: LoadOptions): Promise<LoadResult> {
  const timesMs: number[] = [];
  const statuses: Record<string, number> = {};
  const startedMs = performance.now();
  const untilMs = startedMs + seconds * 1_000;
  let next = 0;

  const one = async () => {
    const socket = connect(port, "127.0.0.1").setNoDelay();
    await once(socket, "connect");
    while (performance.now() < untilMs) {
      const n = next++;
      const dueMs = pace ? startedMs + (n * 1_000) / pace : performance.now();
      if (dueMs > performance.now()) await new Promise((done) => setTimeout(done, dueMs - performance.now()));
      // Measured from the scheduled time, not from sending: a slow answer must not hide the delay of those behind it.
      const fromMs = pace ? Math.max(dueMs, startedMs) : performance.now();
      const status = await exchange(socket, request(n));
      timesMs.push(performance.now() - fromMs);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
    socket.destroy();
  };
  await Promise.all(Array.from({ length: connections }, one));
  const sorted = timesMs.toSorted((a, b) => a - b);
  return {
    perSecond: (timesMs.length / (performance.now() - startedMs)) * 1_000,
    p50Ms: percentile(sorted, 0.5),
    p99Ms: percentile(sorted, 0.99),
    statuses,
  };
}
