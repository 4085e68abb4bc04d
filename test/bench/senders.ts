/**
 * Measures a cluster at full speed.
 *
 *     node test/bench senders [recipients=100000] [senders=2] [connections=20]
 *
 * Sender processes over a real NATS, Redis and PostgreSQL send the 10 KB newsletter with full tracking to a list, from
 * the POST to `completed`, into Debian's smtp-sink. In the same run, smtp-source sends over as many connections into
 * the same sink (max_connections applies to all senders together). Prints rates, their ratio, the times of the first
 * mail and of the last written recipient, and CPU, memory and PostgreSQL connections per process, also after 10, 50 and
 * 100 % of the mails: with 1000000 recipients this shows whether memory stays flat.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { startSmtpSink } from "../support/servers.ts";
import { newAccount, prepare, type Sending, send, wireBytes } from "./campaign.ts";
import { untilQuiet } from "./cpu.ts";
import { forgetPeak, peakMegabytes, residentMegabytes } from "./resources.ts";
import { smtpSource } from "./smtp-source.ts";
import { countCpu, mailsOf, type Stack, sendersOf, startStack } from "./stack.ts";
import { MostConnections, Watch } from "./watch.ts";

const [recipients = 100_000, senderCount = 2, connections = 20] = process.argv.slice(2).map(Number);
/** Enough to measure its rate, however large the campaign is. */
const MAX_SOURCE_MAILS = 100_000;
const EXPANSION_POLL_MS = 20;
const POINTS = [0.1, 0.5, 1];

/** Seconds from the campaign's creation to its last recipient; `expanded_at` is the start of the last slice. */
async function expansionSeconds({ database }: Stack): Promise<number> {
  for (;;) {
    const { rows } = await database.query<{ seconds: number }>(
      `select extract(epoch from clock_timestamp() - created_at)::float8 as seconds from campaigns
       where expanded_at is not null and total_emails = $1`,
      [recipients],
    );
    if (rows[0]) return rows[0].seconds;
    await sleep(EXPANSION_POLL_MS);
  }
}

/** Recorded times of the first and last mail since the POST. */
async function firstAndLast({ database }: Stack, { id, postedAtMs }: Sending) {
  const { rows } = await database.query<{ first: number; last: number }>(
    `select extract(epoch from min(sent_at))::float8 * 1000 as first, extract(epoch from max(sent_at))::float8 * 1000 as last
     from sent_emails where campaign_no = (select no from campaigns where id = $1)`,
    [id],
  );
  const { first, last } = rows[0]!;
  return { firstMs: first - postedAtMs, lastMs: last - postedAtMs };
}

async function measure(stack: Stack, sink: { url: string; child?: { pid: number } }): Promise<void> {
  const cluster = await stack.cluster(senderCount);
  try {
    const address = new URL(sink.url);
    const senders = sendersOf(cluster, senderCount);
    const api = await newAccount(cluster.url);
    const ids = await prepare(api, address, recipients, connections);
    const bytes = await wireBytes(api);
    await untilQuiet(stack.pids.PostgreSQL);
    const sourceMails = Math.min(recipients, MAX_SOURCE_MAILS);
    const { perSecond: sourcePerSecond } = await smtpSource(address, sourceMails, connections, bytes);

    const pids = Object.fromEntries([...cluster.processes].map(([name, { child }]) => [name, child.pid]));
    const used = countCpu({ ...pids, ...stack.pids, "smtp-sink": sink.child!.pid });
    for (const { pid } of senders) forgetPeak(pid);
    const idle = senders.map(({ pid }) => residentMegabytes(pid));
    const watch = new Watch(senders, Number(address.port), recipients, POINTS);
    const toDatabase = new MostConnections(stack.database.port, pids);
    const [sending, expandedIn] = await Promise.all([
      send(api, ids, (through) => {
        watch.look(through);
        toDatabase.look();
      }),
      expansionSeconds(stack),
    ]);
    const cpu = used();

    const { firstMs, lastMs } = await firstAndLast(stack, sending);
    const perSecond = (recipients / sending.ms) * 1_000;
    console.log(
      `${recipients} recipients, ${senderCount} senders, ${connections} connections: ${Math.round(perSecond)} mails/s; ` +
        `smtp-source ${Math.round(sourcePerSecond)}/s; ratio ${(perSecond / sourcePerSecond).toFixed(2)}; ` +
        `POST ${Math.round(sending.answerMs)} ms, first mail recorded ${Math.round(firstMs)} ms after it, ` +
        `all expanded in ${expandedIn.toFixed(2)} s, last mail recorded after ${(lastMs / 1_000).toFixed(2)} s, ` +
        `completed after ${(sending.ms / 1_000).toFixed(2)} s`,
    );
    const settled = await Promise.all(senders.map(mailsOf));
    const perMail = (name: string, mails: number) => (mails === 0 ? "-" : Math.round(cpu[name]! / mails));
    console.table(
      senders.map(({ name, pid }, n) => ({
        sender: name,
        mails: settled[n],
        connections: watch.connections[n],
        "CPU µs/mail": perMail(name, settled[n]!),
        "MB before": idle[n],
        ...Object.fromEntries(POINTS.map((share, at) => [`at ${share * 100} %`, watch.memory[at]?.[n]])),
        peak: peakMegabytes(pid),
      })),
    );
    const others = Object.keys(cpu).filter((name) => !senders.some((sender) => sender.name === name));
    console.log(
      `CPU µs per mail beside the senders: ${others.map((name) => `${name} ${perMail(name, recipients)}`).join(", ")}`,
    );
    const most = Object.entries(toDatabase.most).map(([name, connections]) => `${name} ${connections}`);
    console.log(`Connections to PostgreSQL at most: ${most.join(", ")}`);
  } finally {
    await cluster.stop();
  }
}

const sink = await startSmtpSink();
const stack = await startStack();
try {
  await measure(stack, sink);
} finally {
  await stack.stop();
  await sink.stop();
}
