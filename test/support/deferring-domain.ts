/**
 * A mail server that accepts a limited number of mails per rolling window for one recipient domain, and defers all
 * others.
 */
import type { Command, SmtpServerOptions } from "./smtp-server.ts";

export interface DeferringDomain {
  domain: string;
  limit: number;
  windowMs: number;
  taken: number;
  deferred: number;
}

export const deferringDomain = (domain: string, limit: number, windowMs: number): DeferringDomain => ({
  domain,
  limit,
  windowMs,
  taken: 0,
  deferred: 0,
});

/** The server's answers, counted in `state`. The limit may change while it runs. */
export function answersFor(state: DeferringDomain): Required<Pick<SmtpServerOptions, "answer">> {
  let times: number[] = [];
  return {
    answer({ verb, to }: Command) {
      if (verb !== "RCPT" || !to.endsWith(`@${state.domain}`)) return undefined;
      const now = performance.now();
      times = times.filter((at) => at > now - state.windowMs);
      if (times.length >= state.limit) {
        state.deferred++;
        return `451 4.7.1 <${to}>: rate of mail to this domain is limited, id ${state.deferred}`;
      }
      times.push(now);
      state.taken++;
      return undefined;
    },
  };
}
