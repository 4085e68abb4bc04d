/** Samples processes while mails are sent: connections, and memory at given points. */
import { connectionsTo, residentMegabytes } from "./resources.ts";
import type { Sender } from "./stack.ts";

const CONNECTIONS_EVERY_MS = 250;

export class Watch {
  readonly #senders: readonly Sender[];
  readonly #port: number;
  readonly #recipients: number;
  readonly #points: number[];
  #connections: number[][] = [];
  #lookedAt = 0;
  /** Counts by point reached, then by sender. */
  readonly memory: number[][] = [];

  /** `points` are shares of finished recipients. */
  constructor(senders: readonly Sender[], port: number, recipients: number, points: readonly number[] = []) {
    this.#senders = senders;
    this.#port = port;
    this.#recipients = recipients;
    this.#points = [...points];
  }

  look(through: number): void {
    const share = through / this.#recipients;
    const pids = this.#senders.map(({ pid }) => pid);
    while (share >= this.#points[0]!) {
      this.#points.shift();
      this.memory.push(pids.map(residentMegabytes));
    }
    const now = performance.now();
    // Skips the start and the end, which use fewer connections.
    if (share < 0.1 || share > 0.9 || now - this.#lookedAt < CONNECTIONS_EVERY_MS) return;
    this.#lookedAt = now;
    this.#connections.push(connectionsTo(this.#port, pids));
  }

  /** Average per sender between 10 and 90 % of the mails. */
  get connections(): number[] {
    const looks = Math.max(1, this.#connections.length);
    return this.#senders.map((_, n) => {
      const sum = this.#connections.reduce((total, look) => total + look[n]!, 0);
      return Math.round((sum / looks) * 10) / 10;
    });
  }
}

/** Maximum number of connections to a port per process, by name. */
export class MostConnections {
  readonly #port: number;
  readonly #pids: Record<string, number>;
  #lookedAt = 0;
  readonly most: Record<string, number>;

  constructor(port: number, pids: Record<string, number>) {
    this.#port = port;
    this.#pids = pids;
    this.most = Object.fromEntries(Object.keys(pids).map((name) => [name, 0]));
  }

  look(): void {
    const now = performance.now();
    if (now - this.#lookedAt < CONNECTIONS_EVERY_MS) return;
    this.#lookedAt = now;
    const counts = connectionsTo(this.#port, Object.values(this.#pids));
    for (const [n, name] of Object.keys(this.#pids).entries()) this.most[name] = Math.max(this.most[name]!, counts[n]!);
  }
}
