/**
 * One recipient domain of five defers: `node test/bench slow-domain [each=2000] [perMinute=100] [answerMs=0] [rounds=3] [senders=1]`.
 *
 * A cluster, and a mail server that takes so many mails for one of the domains in any rolling minute and defers the rest;
 * `answerMs` is what it takes to answer a message. Prints how long the other four take without the fifth and beside it (from
 * the POST to the last mail at the server), and, when the fifth has all its mails, how long that took and how many it deferred.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { answersFor, type DeferringDomain, deferringDomain } from "../support/deferring-domain.ts";
import { startSmtpServer } from "../support/smtp-server.ts";
import { type Api, newAccount, post, prepare } from "./campaign.ts";
import { countCpu, sendersOf, startStack } from "./stack.ts";

const [each = 2_000, perMinute = 100, answerMs = 0, rounds = 3, senders = 1] = process.argv.slice(2).map(Number);
const CONNECTIONS = 10;
const SLOW = "slow.example";
const OTHERS = ["one.example", "two.example", "three.example", "four.example"];

interface Run {
  api: Api;
  domains: readonly string[];
  /** CPU in µs by process, since it was called. */
  count(): () => Record<string, number>;
  /** The others have theirs. */
  done?(state: DeferringDomain): Promise<void>;
}

/** Until the others have theirs: how long that took, and with how much CPU. */
async function run({ api, domains, count, done }: Run): Promise<string> {
  const state = deferringDomain(SLOW, perMinute, 60_000);
  const { answer } = answersFor(state);
  let others = 0;
  let lastAt = 0;
  const server = await startSmtpServer({
    keep: false,
    delayMs: { DOT: answerMs },
    answer(command) {
      if (command.verb === "DOT" && !command.to.endsWith(`@${SLOW}`)) {
        others++;
        lastAt = performance.now();
      }
      return answer(command);
    },
  });
  try {
    const address = new URL(`smtp://${server.host}:${server.port}`);
    const ids = await prepare(api, address, each * domains.length, CONNECTIONS, { domains });
    const used = count();
    const began = performance.now();
    const { id } = await post(api, "send/to-list", {
      name: "Bench",
      template_id: ids.template,
      smtp_config_id: ids.smtp,
      list_id: ids.list,
    });
    while (others < each * OTHERS.length) await sleep(20);
    const cpu = Object.entries(used()).map(([name, us]) => `${name} ${Math.round(us / 1_000)} ms`);
    const text = `${Math.round(lastAt - began)} ms (CPU: ${cpu.join(", ")})`;
    await done?.(state);
    // What is left of it would be in the way of the next one.
    if (domains.includes(SLOW) && state.taken < each) await post(api, `campaigns/${id}/stop`, {});
    return text;
  } finally {
    await server.stop();
  }
}

const stack = await startStack();
try {
  const cluster = await stack.cluster(senders);
  try {
    const api = await newAccount(cluster.url);
    const pids = Object.fromEntries(sendersOf(cluster, senders).map(({ name, pid }) => [name, pid]));
    const count = () => countCpu({ ...pids, PostgreSQL: stack.pids.PostgreSQL });
    await run({ api, domains: OTHERS, count });
    for (let n = 0; n < rounds; n++) {
      console.log(`the other four without the fifth: ${await run({ api, domains: OTHERS, count })}`);
      console.log(`the other four beside the fifth: ${await run({ api, domains: [...OTHERS, SLOW], count })}`);
    }
    const untilAllIsTaken = async (state: DeferringDomain) => {
      const began = performance.now();
      for (let n = 1; state.taken < each; n++) {
        await sleep(1_000);
        if (n % 60 === 0) console.log(`after ${n / 60} min: ${state.taken} taken, ${state.deferred} deferred`);
      }
      const minutes = (performance.now() - began) / 60_000;
      const part = (100 * state.deferred) / each;
      console.log(
        `the fifth: ${each} in ${minutes.toFixed(1)} min, ${state.deferred} deferrals (${part.toFixed(1)} %)`,
      );
    };
    await run({ api, domains: [...OTHERS, SLOW], count, done: untilAllIsTaken });
  } finally {
    await cluster.stop();
  }
} finally {
  await stack.stop();
}
