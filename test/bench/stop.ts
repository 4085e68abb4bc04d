/**
 * Measures how long mails still start after a stop was answered, in a cluster with a slow server.
 *
 *     node test/bench stop [senders=4] [delayMs=400] [stops=20] [connections=40]
 *
 * The server delays every answer by `delayMs` and records when it reads each MAIL command. Prints for each stop the
 * time from the 200 to the last MAIL, the numbers of envelopes begun and mails accepted after it, and whether the
 * campaign's counts match the server's; then median, p99 (of 20 stops: the longest) and maximum. Exits with 1 if p99
 * exceeds the promised two seconds.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { startSmtpServer } from "../support/smtp-server.ts";
import { type Api, type Ids, newAccount, post, prepare } from "./campaign.ts";
import { startStack } from "./stack.ts";

const PROMISED_MS = 2_000;
/** Every connection has sent mails by then. */
const BEGUN_BEFORE = 80;
/** Longer than anything that could still arrive. */
const QUIET_MS = 4_000;
const STARTED_WITHIN_MS = 60_000;

const [senders = 4, delayMs = 400, stops = 20, connections = 40] = process.argv.slice(2).map(Number);

interface Stop {
  lastMs: number;
  begun: number;
  accepted: number;
}

interface Campaign {
  id: string;
  status: string;
  sent_count: number;
}

/** Times of MAIL commands by the monotonic clock. */
const begun: number[] = [];
const server = await startSmtpServer({
  keep: false,
  delayMs,
  answer: ({ verb }) => {
    if (verb === "MAIL") begun.push(performance.now());
    return undefined;
  },
});

async function untilFinal(api: Api, id: string): Promise<Campaign> {
  for (const deadline = Date.now() + STARTED_WITHIN_MS; ; await sleep(100)) {
    const answer = await fetch(`${api.url}/api/emails/campaigns/${id}/`, { headers: { "X-API-Key": api.key } });
    const campaign = (await answer.json()) as Campaign;
    if (["partial", "cancelled", "completed", "failed"].includes(campaign.status)) return campaign;
    if (Date.now() > deadline) throw new Error(`Not over: ${JSON.stringify(campaign)}`);
  }
}

/** Retries a 503 of a busy machine; measuring starts with the 200. */
async function stopIt(api: Api, id: string): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await post(api, `campaigns/${id}/stop`, {});
      return;
    } catch (error) {
      if (tries === 5 || !/: 503 /.test((error as Error).message)) throw error;
      await sleep(500);
    }
  }
}

async function stopOne(api: Api, ids: Ids): Promise<Stop> {
  begun.length = 0;
  const acceptedBefore = server.accepted;
  const { id } = await post<Campaign>(api, "send/to-list", {
    name: "Bench",
    template_id: ids.template,
    smtp_config_id: ids.smtp,
    list_id: ids.list,
  });
  for (const deadline = Date.now() + STARTED_WITHIN_MS; begun.length < BEGUN_BEFORE; await sleep(20)) {
    if (Date.now() > deadline) throw new Error(`${begun.length} mails began within ${STARTED_WITHIN_MS} ms`);
  }
  // Random, to hit any phase of the senders' rounds.
  await sleep(Math.random() * 1_000);
  await stopIt(api, id);
  const [stoppedAt, acceptedThen] = [performance.now(), server.accepted];
  const over = await untilFinal(api, id);
  await sleep(QUIET_MS);
  const after = begun.filter((at) => at > stoppedAt);
  const taken = server.accepted - acceptedBefore;
  if (over.status !== "partial" || over.sent_count !== taken) {
    throw new Error(`The server took ${taken} mails: ${JSON.stringify(over)}`);
  }
  return {
    lastMs: Math.max(0, ...after.map((at) => at - stoppedAt)),
    begun: after.length,
    accepted: server.accepted - acceptedThen,
  };
}

const stack = await startStack();
let isKept = false;
try {
  const cluster = await stack.cluster(senders);
  try {
    const api = await newAccount(cluster.url);
    const ids = await prepare(api, new URL(`smtp://127.0.0.1:${server.port}`), 3_000, connections);
    const all: Stop[] = [];
    for (let n = 1; n <= stops; n++) {
      const stop = await stopOne(api, ids);
      all.push(stop);
      const { lastMs, begun: envelopes, accepted } = stop;
      console.log(
        `stop ${n}: last envelope after ${lastMs.toFixed(0)} ms; ${envelopes} envelopes, ${accepted} mails accepted after it`,
      );
    }
    const sorted = all.map(({ lastMs }) => lastMs).toSorted((a, b) => a - b);
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)]!;
    isKept = at(0.99) < PROMISED_MS && server.doubled.length === 0;
    const figures = [at(0.5), at(0.99), sorted.at(-1)!].map((ms) => `${ms.toFixed(0)} ms`).join(", ");
    console.log(`${stops} stops, ${senders} senders, ${delayMs} ms for an answer: median, p99, longest: ${figures}`);
  } finally {
    await cluster.stop();
  }
} finally {
  await stack.stop();
  await server.stop();
}
process.exitCode = isKept ? 0 : 1;
