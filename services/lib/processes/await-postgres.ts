/**
 * Waits for PostgreSQL at start, because it may start at the same time or be briefly unavailable. Errors name its
 * address and never its user or password.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { addressesOf, hostUrls, probe, writableHost } from "./postgres-hosts.ts";

/** Default wait if the URL has no `connect_timeout` (seconds, as in libpq). */
const WAIT_MS = 60_000;
const TRY_AGAIN_MS = 500;
const CONNECT_TIMEOUT_MS = 5_000;

const REASONS: Record<string, string> = {
  ECONNREFUSED: "nothing listens there",
  ENOTFOUND: "there is no such host",
  EAI_AGAIN: "the host name cannot be resolved",
  EHOSTUNREACH: "there is no route to it",
  ENETUNREACH: "there is no route to it",
  ETIMEDOUT: "it does not answer",
};

/** Starting up, or shutting down for a restart: SQLSTATE class 57P. */
const isStarting = (code: string) => /^57P0[123]$/.test(code);
/** TLS errors of Node; the last is pg's message if the server has no TLS. */
const isTlsRefusal = (code: string, message: string) =>
  /CERT|^ERR_(TLS|SSL)|UNABLE_TO/.test(code) || message === "The server does not support SSL connections";
const isSqlState = (code: string) => /^[0-9A-Z]{5}$/.test(code) && !/^E[A-Z]{4}$/.test(code);

interface Wait {
  waiting: (text: string) => void;
  signal: AbortSignal;
  /** Source of the URL, for messages. */
  variable?: string;
}

/** Resolves once it accepts connections. Permanent refusals (wrong password, no such database) throw at once. */
export async function awaitPostgres(url: string, wait: Wait): Promise<void> {
  const { waiting, signal, variable = "DATABASE_URL" } = wait;
  const at = `PostgreSQL at ${addressesOf(url)} (${variable})`;
  const seconds = Number(new URL(hostUrls(url)[0]!).searchParams.get("connect_timeout") ?? WAIT_MS / 1_000);
  const deadlineMs = performance.now() + seconds * 1_000;
  for (let tried = 1; ; tried++) {
    try {
      return await probe(await writableHost(url), CONNECT_TIMEOUT_MS);
    } catch (error) {
      const { message, code: own, errors } = error as Error & { code?: string; errors?: { code?: string }[] };
      // A name with several addresses fails with an AggregateError.
      const code = own ?? errors?.[0]?.code ?? "";
      if (isSqlState(code) && !isStarting(code)) throw new Error(`${at} refuses the connection: ${message}`);
      if (isTlsRefusal(code, message)) throw new Error(`${at} cannot be used with TLS as its URL wants it: ${message}`);
      const reason = REASONS[code] ?? (message || code);
      if (performance.now() >= deadlineMs) {
        throw new Error(`${at} cannot be reached: ${reason}. Gave up after ${seconds} s.`);
      }
      if (tried === 1) waiting(`${at} cannot be reached: ${reason}. Waiting up to ${seconds} s for it`);
      await sleep(TRY_AGAIN_MS, undefined, { signal }).catch(() => {});
      if (signal.aborted) throw new Error(`Stopped while waiting: ${at} cannot be reached: ${reason}.`);
    }
  }
}
