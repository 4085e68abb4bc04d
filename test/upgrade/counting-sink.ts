/** A mail server that counts by sender and recipient: each campaign of these tests has a sender address of its own. */
import { type SmtpServer, startSmtpServer } from "../support/smtp-server.ts";

export interface CountingSink {
  port: number;
  /** Times of acceptance, by sender and recipient. */
  arrivals: Map<string, Map<string, number[]>>;
  to(sender: string): Map<string, number[]>;
  /** From now on it takes no time. */
  quicken(): void;
  /** "sender recipient" of what came more than once. */
  doubled(): string[];
  stop(): Promise<void>;
}

/** `delayMs`: of each message's end. */
export async function startCountingSink(delayMs: number): Promise<CountingSink> {
  const arrivals = new Map<string, Map<string, number[]>>();
  const to = (sender: string) => {
    const known = arrivals.get(sender) ?? new Map<string, number[]>();
    arrivals.set(sender, known);
    return known;
  };
  const delays = { DOT: delayMs };
  const server: SmtpServer = await startSmtpServer({
    keep: false,
    delayMs: delays,
    answer({ verb, from, to: recipient }) {
      if (verb !== "DOT") return undefined;
      const times = to(from).get(recipient);
      if (times) times.push(Date.now());
      else to(from).set(recipient, [Date.now()]);
      return undefined;
    },
  });
  return {
    port: server.port,
    arrivals,
    to,
    quicken: () => {
      delays.DOT = 0;
    },
    doubled: () =>
      [...arrivals].flatMap(([sender, known]) =>
        [...known].flatMap(([recipient, times]) => (times.length > 1 ? [`${sender} ${recipient}`] : [])),
      ),
    stop: () => server.stop(),
  };
}
