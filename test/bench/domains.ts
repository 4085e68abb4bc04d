/**
 * One recipient domain of five that defers: `node test/bench domains [each=2000] [perMinute=100] [senders=1] [rounds=3]`.
 *
 * A cluster, and a mail server that takes so many mails for one of the domains in any rolling minute and defers the rest.
 * Prints how long the other four take without the fifth and beside it (from the POST to the last mail at the server), and,
 * when the fifth has all its mails, how long that took and how many it deferred.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { answersFor, deferringDomain } from "../support/deferring-domain.ts";
import { startSmtpServer } from "../support/smtp-server.ts";
import { type Api, newAccount, post, prepare } from "./campaign.ts";
import { startStack } from "./stack.ts";

const [each = 2_000, perMinute = 100, senders = 1, rounds = 3] = process.argv.slice(2).map(Number);
const CONNECTIONS = 10;
const SLOW = "slow.example";
const OTHERS = ["one.example", "two.example", "three.example", "four.example"];

/** Milliseconds until the others have theirs. */
async function run(api: Api, domains: readonly string[], done: (state: ReturnType<typeof deferringDomain>) => unknown) {
  const state = deferringDomain(SLOW, perMinute, 60_000);
  const { answer } = answersFor(state);
  let others = 0;
  let lastAt = 0;
  const server = await startSmtpServer({
    keep: false,
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
    const began = performance.now();
    await post(api, "send/to-list", {
      name: "Bench",
      template_id: ids.template,
      smtp_config_id: ids.smtp,
      list_id: ids.list,
    });
    while (others < each * OTHERS.length) await sleep(20);
    const ms = lastAt - began;
    await done(state);
    return ms;
  } finally {
    await server.stop();
  }
}

const stack = await startStack();
try {
  const cluster = await stack.cluster(senders);
  try {
    const api = await newAccount(cluster.url);
    const without: number[] = [];
    const beside: number[] = [];
    await run(api, OTHERS, () => {});
    for (let n = 0; n < rounds; n++) {
      without.push(await run(api, OTHERS, () => {}));
      beside.push(await run(api, [...OTHERS, SLOW], () => {}));
      console.log(
        `the other four: ${without.at(-1)!.toFixed(0)} ms without the fifth, ${beside.at(-1)!.toFixed(0)} ms beside it`,
      );
    }
    const began = performance.now();
    await run(api, [...OTHERS, SLOW], async (state) => {
      for (let n = 1; state.taken < each; n++) {
        await sleep(1_000);
        if (n % 60 === 0) console.log(`after ${n / 60} min: ${state.taken} taken, ${state.deferred} deferred`);
      }
      const minutes = (performance.now() - began) / 60_000;
      const part = (100 * state.deferred) / each;
      console.log(
        `the fifth: ${each} in ${minutes.toFixed(1)} min, ${state.deferred} deferrals (${part.toFixed(1)} %)`,
      );
    });
  } finally {
    await cluster.stop();
  }
} finally {
  await stack.stop();
}
