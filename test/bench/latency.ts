/**
 * Measures how throughput scales with the number of senders against a slow server.
 *
 *     node test/bench latency [senders=1,2,4] [connectionsPerSender=20] [delayMs=50] [seconds=15]
 *
 * Starts a cluster for each number of senders; max_connections of the configuration is connectionsPerSender × senders,
 * so that the server allows `connections × 1000 / delayMs` mails a second. Prints the rate of the middle (10 to 90 % of
 * the mails, as seen by the server) and of the whole run, its share of the possible, its growth with the senders, the
 * distribution of mails and connections, and CPU per mail, which should not grow with the number of senders. `seconds`
 * is the approximate length of each run.
 */
import { newAccount, prepare, send } from "./campaign.ts";
import { untilQuiet } from "./cpu.ts";
import { INTERVAL_MS, type SlowSink, startSlowSink, type Taken } from "./slow-sink.ts";
import { countCpu, mailsOf, type Stack, sendersOf, startStack } from "./stack.ts";
import { Watch } from "./watch.ts";

const [counts = "1,2,4", ...rest] = process.argv.slice(2);
const [connectionsPerSender = 20, delayMs = 50, seconds = 15] = rest.map(Number);

/** Mails per second between 10 and 90 % of them. */
function middleRate({ mails, counts: pieces }: Taken): number {
  let [through, middle, inMiddle] = [0, 0, 0];
  for (const piece of pieces) {
    if (through >= 0.1 * mails && through + piece <= 0.9 * mails) {
      middle += piece;
      inMiddle++;
    }
    through += piece;
  }
  return inMiddle === 0 ? Number.NaN : (middle / (inMiddle * INTERVAL_MS)) * 1_000;
}

interface Step {
  senders: number;
  middle: number;
  whole: number;
}

async function measure(stack: Stack, sink: SlowSink, count: number): Promise<Step> {
  const connections = connectionsPerSender * count;
  const possible = (connections * 1_000) / delayMs;
  const recipients = Math.round(possible * seconds);
  const cluster = await stack.cluster(count);
  try {
    const senders = sendersOf(cluster, count);
    const api = await newAccount(cluster.url, `senders-${count}`);
    const ids = await prepare(api, sink.url, recipients, connections);
    await untilQuiet(stack.pids.PostgreSQL);
    const pids = [...cluster.processes].map(([name, { child }]) => [name, child.pid]);
    const used = countCpu({ ...stack.pids, ...Object.fromEntries(pids) });
    const watch = new Watch(senders, Number(sink.url.port), recipients);
    const { ms } = await send(api, ids, (through) => watch.look(through));
    const cpu = used();
    const taken = await sink.taken();
    const mails = await Promise.all(senders.map(mailsOf));
    const step = { senders: count, middle: middleRate(taken), whole: (recipients / ms) * 1_000 };
    console.log(
      `${count} senders, ${connections} connections, ${recipients} recipients: ${Math.round(step.middle)} mails/s ` +
        `(${(step.middle / possible).toFixed(2)} of the possible), whole run ${Math.round(step.whole)}/s; ` +
        `connections by sender ${watch.connections.join(", ")}; mails by sender ${mails.join(", ")}; ` +
        `at the server ${taken.mails} mails, ${taken.doubled} of them twice`,
    );
    const perMail = (us: number) => Math.round(us / recipients);
    const all = Object.values(cpu).reduce((sum, us) => sum + us, 0);
    const each = Object.entries(cpu).map(([name, us]) => `${name} ${perMail(us)}`);
    console.log(`  CPU µs per mail: ${perMail(all)} in all (${each.join(", ")})`);
    return step;
  } finally {
    await cluster.stop();
  }
}

const sink = await startSlowSink(delayMs);
const stack = await startStack();
try {
  const steps: Step[] = [];
  for (const count of counts.split(",").map(Number)) steps.push(await measure(stack, sink, count));
  for (const [n, { senders, middle, whole }] of steps.slice(1).entries()) {
    const before = steps[n]!;
    const factor = (now: number, then: number) => ((now / then) * (before.senders / senders)).toFixed(2);
    console.log(
      `${before.senders} → ${senders} senders: scales at ${factor(middle, before.middle)} (whole run ${factor(whole, before.whole)})`,
    );
  }
} finally {
  await stack.stop();
  sink.stop();
}
