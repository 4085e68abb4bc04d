/** Looks at processes while mails are sent: who has how many connections, and how much memory at which point. */
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
  /** By point reached, by sender. */
  readonly memory: number[][] = [];

  /** `points` are shares of the recipients that are through. */
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
    // The first connections have to be made, and for the last mails fewer are needed.
    if (share < 0.1 || share > 0.9 || now - this.#lookedAt < CONNECTIONS_EVERY_MS) return;
    this.#lookedAt = now;
    this.#connections.push(connectionsTo(this.#port, pids));
  }

  /** By sender, on average between a tenth and nine tenths of the mails. */
  get connections(): number[] {
    const looks = Math.max(1, this.#connections.length);
    return this.#senders.map((_, n) => {
      const sum = this.#connections.reduce((total, look) => total + look[n]!, 0);
      return Math.round((sum / looks) * 10) / 10;
    });
  }
}

/** The most connections to a port that each process had, by name. */
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
