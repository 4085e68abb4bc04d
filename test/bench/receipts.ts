/**
 * Measures the latency of receipts beside a newsletter.
 *
 *     node test/bench receipts [recipients=200000] [senders=2] [perSecond=20]
 *
 * In a cluster, one company sends a newsletter at full speed into Debian's smtp-sink and meanwhile transactional mails
 * to a server that records arrivals. Prints the time from POST to arrival, idle and beside the newsletter (promised:
 * 500 ms at p99).
 */
import { setTimeout as sleep } from "node:timers/promises";
import { startSmtpSink } from "../support/servers.ts";
import { startSmtpServer } from "../support/smtp-server.ts";
import { type Api, newAccount, post, prepare, send } from "./campaign.ts";
import { untilQuiet } from "./cpu.ts";
import { startStack } from "./stack.ts";

const [recipients = 200_000, senders = 2, perSecond = 20] = process.argv.slice(2).map(Number);
const CONNECTIONS = 20;
const IDLE_RECEIPTS = 200;
const ARRIVED_WITHIN_MS = 30_000;

const postedAt = new Map<string, number>();
const latencies: number[] = [];

async function receipt(api: Api, template: string, smtp: string): Promise<void> {
  const email = `buyer.${postedAt.size}@example.com`;
  postedAt.set(email, Date.now());
  await post(api, "send/to-receivers", {
    name: "Receipt",
    template_id: template,
    smtp_config_id: smtp,
    is_transactional: true,
    receivers: [{ email, first_name: "Ann" }],
  });
}

function described(name: string): string {
  const sorted = latencies.splice(0).sort((a, b) => a - b);
  const at = (part: number) => `${sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]} ms`;
  return `${name}: ${sorted.length} receipts, p50 ${at(0.5)}, p99 ${at(0.99)}, worst ${at(1)}`;
}

/** Sends receipts at a steady rate while `more` returns true, and waits for the last arrival. */
async function receipts(api: Api, template: string, smtp: string, more: () => boolean): Promise<void> {
  const asked: Promise<void>[] = [];
  for (let due = Date.now(); more(); due += 1_000 / perSecond) {
    asked.push(receipt(api, template, smtp));
    await sleep(Math.max(0, due - Date.now()));
  }
  await Promise.all(asked);
  const deadline = Date.now() + ARRIVED_WITHIN_MS;
  while (latencies.length < asked.length) {
    if (Date.now() > deadline) throw new Error(`${asked.length - latencies.length} receipts did not arrive`);
    await sleep(20);
  }
}

const sink = await startSmtpSink();
const shop = await startSmtpServer({
  answer: ({ verb, to }) => {
    if (verb === "DOT") latencies.push(Date.now() - postedAt.get(to)!);
    return undefined;
  },
});
const stack = await startStack();
try {
  const cluster = await stack.cluster(senders);
  try {
    const api = await newAccount(cluster.url);
    const ids = await prepare(api, new URL(sink.url), recipients, CONNECTIONS);
    const { id: shopConfig } = await post(api, "smtp-configs", {
      name: "Shop",
      host: "127.0.0.1",
      port: shop.port,
      username: "",
      password: "",
      use_tls: false,
      sender_email: "shop@example.com",
    });
    await untilQuiet(stack.pids.PostgreSQL);
    await receipts(api, ids.template, shopConfig, () => postedAt.size < IDLE_RECEIPTS);
    console.log(described("idle"));
    let isSending = true;
    const newsletter = send(api, ids).finally(() => (isSending = false));
    await receipts(api, ids.template, shopConfig, () => isSending);
    const { ms } = await newsletter;
    console.log(`${described("beside the newsletter")}; newsletter ${Math.round((recipients / ms) * 1_000)} mails/s`);
  } finally {
    await cluster.stop();
  }
} finally {
  await stack.stop();
  await shop.stop();
  await sink.stop();
}
