/**
 * Measures deferred copies.
 *
 *     node test/bench copies [mails=10000] [copies=3] [connections=10]
 *
 * One service process with an embedded PostgreSQL sends mails with that many cc each to a server that defers a third of
 * the copies once, as greylisting does. Prints when the campaign was completed and when the last copy arrived, how
 * often each copy arrived, and the API's counts.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { dataFolder, startService } from "../support/service-process.ts";
import { startSmtpServer } from "../support/smtp-server.ts";
import { newAccount, post } from "./campaign.ts";

const [mails = 10_000, copies = 3, connections = 10] = process.argv.slice(2).map(Number);
const RETRY_SECONDS = 5;
const PIECE = 1_000;
const PAGE = 100;
const STALLED_MS = 120_000;

interface Page {
  results: { copies: { status: string }[] }[];
}

const seen = new Set<string>();
let deferrals = 0;
function isDeferred(to: string): boolean {
  if (!to.startsWith("cc0.") || seen.has(to)) return false;
  seen.add(to);
  deferrals++;
  return true;
}
const server = await startSmtpServer({
  keep: false,
  answer: ({ verb, to }) => (verb === "RCPT" && isDeferred(to) ? "450 4.2.0 Greylisted, come back later" : undefined),
});
const data = dataFolder();
const service = await startService({
  env: { DATA_DIR: data.path, LOGLEVEL: "warn", RETRY_BASE_SECONDS: `${RETRY_SECONDS}` },
});

try {
  await service.ready();
  const api = await newAccount(service.url);
  const get = async <T>(path: string): Promise<T> =>
    (await fetch(`${api.url}/api/emails/${path}`, { headers: { "X-API-Key": api.key } })).json() as Promise<T>;
  const { id: smtp } = await post(api, "smtp-configs", {
    name: "Greylist",
    host: server.host,
    port: server.port,
    username: "",
    password: "",
    use_tls: false,
    sender_email: "news@example.com",
    max_connections: connections,
  });
  const receivers = Array.from({ length: mails }, (_, n) => ({
    email: `r${n}@example.com`,
    cc: Array.from({ length: copies }, (__, c) => `cc${c}.${n}@example.com`),
  }));
  const began = performance.now();
  const seconds = () => ((performance.now() - began) / 1_000).toFixed(1);
  const ids: string[] = [];
  for (let at = 0; at < mails; at += PIECE) {
    const piece = receivers.slice(at, at + PIECE);
    const content = { name: "Copies", subject: "Hi", body: "<p>Hi</p>", smtp_config_id: smtp };
    ids.push((await post(api, "send/custom", { ...content, receivers: piece })).id);
  }
  for (const id of ids) {
    while (["pending", "sending"].includes((await get<{ status: string }>(`campaigns/${id}/`)).status)) await sleep(50);
  }
  console.log(
    `${mails} mails completed after ${seconds()} s; ${server.counts.size} of ${mails * (1 + copies)} arrived`,
  );
  const until = performance.now() + STALLED_MS;
  while (server.counts.size < mails * (1 + copies) && performance.now() < until) await sleep(50);
  console.log(`${deferrals} copies deferred once; the last one arrived after ${seconds()} s`);
  await sleep(1_000);
  const doubled = [...server.counts.values()].filter((times) => times > 1).length;
  const statuses: Record<string, number> = {};
  for (const id of ids) {
    for (let page = 1; page <= Math.ceil(Math.min(PIECE, mails) / PAGE); page++) {
      const path = `sent-emails/?campaign=${id}&page_size=${PAGE}&page=${page}`;
      for (const mail of (await get<Page>(path)).results) {
        for (const { status } of mail.copies) statuses[status] = (statuses[status] ?? 0) + 1;
      }
    }
  }
  console.log(
    `${server.counts.size} arrived, ${doubled} of them twice; the API says of copies: ${JSON.stringify(statuses)}`,
  );
} finally {
  await service.child.stop();
  await server.stop();
  data.remove();
}
