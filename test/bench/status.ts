/**
 * Measures the cost of `ops status` while mail is sent.
 *
 *     node test/bench status [seconds=60]
 *
 * One process sends to a server that takes 50 ms per mail on each of 20 connections, so that the server sets the rate.
 * Prints CPU per second of the process and PostgreSQL, first without viewers, then with one request per second (twice
 * the rate of `ops status --watch`), and the cost of one screen (promised: under 2 % of a core).
 */
import { setTimeout as sleep } from "node:timers/promises";
import { startEmbeddedPostgres } from "../../services/lib/processes/embedded-postgres.ts";
import { askThroughSocket } from "../../services/operator/ask.ts";
import { dataFolder, startService } from "../support/service-process.ts";
import { newAccount, prepare, send } from "./campaign.ts";
import { postmasterOf } from "./cpu.ts";
import { startSlowSink } from "./slow-sink.ts";
import { countCpu } from "./stack.ts";

const [seconds = 60] = process.argv.slice(2).map(Number);
const CONNECTIONS = 20;
const DELAY_MS = 50;
const SCREEN_EVERY_MS = 2_000;
const WARM_UP_SECONDS = 10;
const recipients = (2 * seconds + 2 * WARM_UP_SECONDS) * (1_000 / DELAY_MS) * CONNECTIONS;

const folder = dataFolder();
const postgres = await startEmbeddedPostgres(folder.path);
const sink = await startSlowSink(DELAY_MS);
const service = await startService({
  env: {
    DATABASE_URL: postgres.url,
    DATA_DIR: folder.path,
    SECRET_KEY: "bench-secret-bench-secret-bench-secret",
    REGISTRATION: "open",
    ALLOW_PRIVATE_NETWORKS: "true",
  },
});

/** CPU per second, in ms. `each` runs once a second. */
async function measured(name: string, each: () => Promise<unknown>): Promise<number> {
  const pids = { service: service.child.pid, postgres: postmasterOf(`${folder.path}/postgres`) };
  const [used, beganAt] = [countCpu(pids), performance.now()];
  for (let second = 1; second <= seconds; second++) {
    await each();
    await sleep(Math.max(0, beganAt + second * 1_000 - performance.now()));
  }
  const elapsed = (performance.now() - beganAt) / 1_000;
  const { service: serviceUs = 0, postgres: postgresUs = 0 } = used();
  const [ofService, ofPostgres] = [serviceUs / 1_000 / elapsed, postgresUs / 1_000 / elapsed];
  console.log(
    `${name}: in a second ${ofService.toFixed(1)} ms of the process, ${ofPostgres.toFixed(1)} ms of PostgreSQL`,
  );
  return ofService + ofPostgres;
}

try {
  await service.ready();
  const api = await newAccount(service.url);
  const ids = await prepare(api, sink.url, recipients, CONNECTIONS);
  const { ask } = askThroughSocket(folder.path);
  const sending = send(api, ids);
  await sleep(WARM_UP_SECONDS * 1_000);
  const alone = await measured("nobody looks", async () => {});
  const looked = await measured("one question a second", () => ask("operator.status", {}));
  const addedMs = looked - alone;
  const share = (100 * addedMs) / SCREEN_EVERY_MS;
  console.log(`a question: ${addedMs.toFixed(1)} ms of CPU; one every 2 s: ${share.toFixed(2)} % of a core`);
  await sending;
} finally {
  await service.child.stop();
  sink.stop();
  await postgres.stop();
  folder.remove();
}
