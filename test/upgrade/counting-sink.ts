/** A mail server that counts by sender and recipient; each campaign of these tests has its own sender address. */
import { type SmtpServer, startSmtpServer } from "../support/smtp-server.ts";

export interface CountingSink {
  port: number;
  /** Times of acceptance, by sender and recipient. */
  arrivals: Map<string, Map<string, number[]>>;
  to(sender: string): Map<string, number[]>;
  /** Removes the delay. */
  quicken(): void;
  /** "sender recipient" of mails that arrived more than once. */
  doubled(): string[];
  stop(): Promise<void>;
}

/** `delayMs` delays the answer to each message. */
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
