/**
 * Measures a newsletter alone, and beside another company's ordinary requests.
 *
 *     node test/bench noisy [recipients=50000] [rounds=1]
 *
 * Sends 25 requests a second of the mix in `ordinary`. Prints both mail rates, their ratio, and failed requests. Aim:
 * the newsletter keeps 85 % of its rate. One process with all services, its PostgreSQL, the mail server and the client
 * share the machine.
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { startSmtpSink } from "../support/servers.ts";
import { dataFolder, startService } from "../support/service-process.ts";
import { ask } from "./ask.ts";
import { type Api, type Ids, newAccount, post, prepare, send } from "./campaign.ts";
import { postmasterOf, untilQuiet } from "./cpu.ts";

const [recipients = 50_000, rounds = 1] = process.argv.slice(2).map(Number);
const CONNECTIONS = 20;
const PER_SECOND = 25;
const QUIET_PEOPLE = 2_000;
const WARM_UP_MS = 2_000;

type Request = readonly [method: string, path: string, body?: unknown];

/** The other company's data, and its requests in order. */
async function ordinary(api: Api, sink: URL): Promise<readonly Request[]> {
  const { list, smtp, template } = await prepare(api, sink, QUIET_PEOPLE, CONNECTIONS);
  const conditions = [{ field: "email", operator: "contains", value: "nothing" }];
  const { id: segment } = await post(api, "segments", { name: "S", rules: { match: "any", conditions } });
  const { id: subscriber } = await post(api, "subscribers", { email: "same@quiet.example" });
  const { id: campaign } = await send(api, { list, smtp, template });
  const receipt = { name: "Receipt", smtp_config_id: smtp, subject: "S", body: "<p>B</p>", is_transactional: true };
  return [
    ["GET", "lists/"],
    ["GET", `subscribers/${subscriber}/`],
    ["GET", "subscribers/?page=3"],
    ["POST", "subscribers/", { email: "same@quiet.example", first_name: "Same" }],
    ["GET", "campaigns/"],
    ["GET", `campaigns/${campaign}/analytics/`],
    ["GET", `segments/${segment}/`],
    ["GET", "subscribers/?search=77"],
    ["GET", "sent-emails/"],
    ["PATCH", `lists/${list}/`, { name: "Readers" }],
    ["POST", `templates/${template}/preview/`, {}],
    ["POST", "send/custom/", { ...receipt, receivers: [{ email: "reader1@quiet.example" }] }],
  ];
}

/** Sends requests at a steady rate until stopped; resolves with the numbers of requests and failures. */
function startAsking(api: Api, requests: readonly Request[]): () => Promise<string> {
  const beganMs = performance.now();
  const failed: string[] = [];
  const underWay: Promise<void>[] = [];
  let isOver = false;
  const asking = (async () => {
    for (let n = 0; !isOver; n++) {
      const request = requests[n % requests.length]!;
      const done = ask(api, ...request).then(({ status }) => {
        if (status > 299) failed.push(`${status} ${request[0]} ${request[1]}`);
      });
      underWay.push(done);
      await sleep(Math.max(0, beganMs + ((n + 1) * 1_000) / PER_SECOND - performance.now()));
    }
  })();
  return async () => {
    isOver = true;
    await asking;
    await Promise.all(underWay);
    return `${underWay.length} requests, ${failed.length} failed ${[...new Set(failed)].join(", ")}`.trim();
  };
}

const data = dataFolder();
const sink = await startSmtpSink();
const service = await startService({ env: { DATA_DIR: data.path, LOGLEVEL: "warn" } });
try {
  await service.ready();
  const [loud, quiet] = [await newAccount(service.url), await newAccount(service.url, "quiet")];
  const address = new URL(sink.url);
  const newsletter = await prepare(loud, address, recipients, CONNECTIONS);
  const requests = await ordinary(quiet, address);
  const rateOf = async (ids: Ids) => (recipients / (await send(loud, ids)).ms) * 1_000;
  for (let round = 1; round <= rounds; round++) {
    await untilQuiet(postmasterOf(join(data.path, "postgres")));
    const alone = await rateOf(newsletter);
    const end = startAsking(quiet, requests);
    await sleep(WARM_UP_MS);
    const beside = await rateOf(newsletter);
    const asked = await end();
    console.log(
      `alone ${Math.round(alone)} mails/s, beside ${PER_SECOND} requests a second ${Math.round(beside)} mails/s: ` +
        `${Math.round((beside / alone) * 100)} % (${asked})`,
    );
  }
} finally {
  await service.child.stop();
  await sink.stop();
  data.remove();
}
