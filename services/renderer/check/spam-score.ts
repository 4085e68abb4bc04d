/**
 * Gets an email's spam score over rspamd's HTTP protocol. The filter is the operator's own and may have a private
 * address.
 */
import { config } from "../../lib/config.ts";
import type { SampleMail } from "./sample-mail.ts";

const PATH = "/checkv2";
const MAX_ANSWER_BYTES = 1024 * 1024;
const MAX_SYMBOLS = 200;

export interface SpamScore {
  score: number;
  /** Score of each matching rule, by name. */
  symbols: Record<string, { score: number; description: string }>;
}

interface Answer {
  score: number;
  symbols?: Record<string, { score?: number; description?: string }>;
}

/**
 * Request headers that a mail server would send; addresses that are invalid in HTTP headers are omitted. The filter
 * must not learn from these emails.
 */
const headersOf = ({ from, to, hostname }: SampleMail) => {
  const envelope = Object.entries({ from, rcpt: to, hostname }).filter(([, value]) => /^[\x21-\x7e]+$/.test(value));
  return { "content-type": "message/rfc822", flags: "no_log,no_stat", ...Object.fromEntries(envelope) };
};

async function bounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_ANSWER_BYTES) throw new Error(`The response is larger than ${MAX_ANSWER_BYTES} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

const scoreOf = ({ score, symbols = {} }: Answer): SpamScore => {
  if (!Number.isFinite(score)) throw new Error("Its answer has no score.");
  const named = Object.entries(symbols).slice(0, MAX_SYMBOLS);
  return {
    score,
    symbols: Object.fromEntries(
      named.map(([name, symbol]) => [name, { score: symbol.score ?? 0, description: symbol.description ?? "" }]),
    ),
  };
};

/** Null if no filter is configured. Throws where it gives no score. */
export async function spamScore(makeMail: () => Promise<SampleMail>, signal: AbortSignal): Promise<SpamScore | null> {
  const { SPAM_CHECK_URL: base } = config();
  if (base === undefined) return null;
  const mail = await makeMail();
  const response = await fetch(base.endsWith(PATH) ? base : `${base}${PATH}`, {
    method: "POST",
    headers: headersOf(mail),
    body: new Uint8Array(mail.message),
    redirect: "error",
    signal,
  });
  const text = await bounded(response);
  if (!response.ok) throw new Error(`It answered ${response.status}.`);
  return scoreOf(JSON.parse(text) as Answer);
}
