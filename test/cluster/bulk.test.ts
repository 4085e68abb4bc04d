/**
 * Imports from the gateway to another process over NATS: memory stays bounded, other requests continue, and nothing is
 * half imported when a process dies. FAILURES=long (`npm run test:failures`) takes 1.2 million rows, 360 MB.
 */
import { once } from "node:events";
import { createWriteStream, mkdtempSync, openAsBlob, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connect, type NatsConnection } from "nats";
import { peakMegabytes } from "../bench/resources.ts";
import { long } from "../support/long.ts";
import { openStage, type Stage } from "../support/stage.ts";
import { watchApi } from "../support/watch-api.ts";

const ROWS = long ? 1_200_000 : 30_000;
/** Half of the 512 MB in the manifests; proves back-pressure. */
const MOST_MEGABYTES = 250;
/** A node without a heartbeat for this long counts as dead (moleculer.config.ts). */
const MISSED_MS = 5_000;
const IMPORT_MS = 600_000;
const WAIT_MS = long ? 300_000 : 60_000;

jest.setTimeout(900_000);

const folder = mkdtempSync(join(tmpdir(), "flockmail-bulk-"));
const file = join(folder, "people.csv");
let stage: Stage;

/** 300 bytes per row. */
async function writeRows(): Promise<void> {
  const out = createWriteStream(file);
  out.write("email,first_name,last_name,city,company,notes\n");
  for (let n = 1; n <= ROWS; n++) {
    const line = `person.${n}@mail${n % 97}.example.com,First${n % 1_000},Last${n},City ${n % 200},Company ${n % 5_000},`;
    if (!out.write(`${line.padEnd(299, "note ")}\n`)) await once(out, "drain");
  }
  out.end();
  await once(out, "close");
}

const processNamed = (name: string) => stage.cluster.processes.get(name)!;

beforeAll(async () => {
  await writeRows();
  stage = await openStage(1, {
    // Same value as in k8s/base/config.yaml.
    env: { NODE_OPTIONS: "--max-semi-space-size=16 --max-old-space-size=320 --v8-pool-size=1", DRAIN_SECONDS: "0" },
  });
});
afterAll(async () => {
  await stage?.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function importFile(): Promise<{ status: number; body: Record<string, unknown> }> {
  const form = new FormData();
  form.set("file", await openAsBlob(file), "people.csv");
  const response = await fetch(`${stage.cluster.url}/api/emails/subscribers/bulk/`, {
    method: "POST",
    headers: stage.headers,
    body: form,
    signal: AbortSignal.timeout(IMPORT_MS),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

/** The longest time between two heartbeats of any node, in milliseconds. */
function watchHeartbeats(nats: NatsConnection): () => number {
  const last = new Map<string, number>();
  let longest = 0;
  const look = (sender: string) => {
    const now = performance.now();
    longest = Math.max(longest, now - (last.get(sender) ?? now));
    last.set(sender, now);
  };
  nats.subscribe("MOL-flockmail.HEARTBEAT", {
    callback: (_, message) => look(message.json<{ sender: string }>().sender),
  });
  return () => {
    for (const sender of last.keys()) look(sender);
    return Math.round(longest);
  };
}

const subscribers = async () => Number((await stage.query<{ n: string }>("select count(*) n from subscribers"))[0]!.n);
const staging = async () =>
  Number((await stage.query<{ n: string }>("select count(*) n from pg_class where relname = 'incoming'"))[0]!.n);

async function until(what: string, condition: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + WAIT_MS;
  while (!(await condition().catch(() => false))) {
    if (Date.now() > deadline) throw new Error(`Not within ${WAIT_MS} ms: ${what}`);
    await sleep(10);
  }
}

const isCopying = async () =>
  (await stage.query("select from pg_stat_activity where query like 'copy incoming%' and state = 'active'")).length > 0;

/** Ways in which a process dies and returns. */
type Death = [name: string, die: () => Promise<() => Promise<unknown>>];

describe("an import whose process dies in the middle", () => {
  const kill = (name: string) => async () => {
    processNamed(name).child.signal("SIGKILL");
    await processNamed(name).child.ended;
    return () => stage.cluster.start(name);
  };
  const killPostgres = async () => {
    stage.killPostgres();
    return () => stage.startPostgres();
  };
  const deaths: Death[] = [
    ["gateway", kill("gateway")],
    // The node of the last one must first be detected as dead, which takes a while.
    ...(long
      ? ([
          ["PostgreSQL", killPostgres],
          ["subscribers", kill("core")],
        ] as Death[])
      : []),
  ];
  test.each(deaths)("leaves no partial import: %s", async (_name, die) => {
    const answer = importFile().catch((error: Error) => ({ status: 0, body: { error: error.message } }));
    await until("rows are copied", isCopying);
    const restart = await die();
    expect((await answer).status).not.toBe(201);
    await restart();
    await stage.cluster.joined();
    await until("the rows of the dead import are gone", async () => (await staging()) === 0);
    // The other process has received the whole file and may finish the dead gateway's request.
    expect([0, ROWS]).toContain(await subscribers());
    await stage.query("delete from subscribers");
  });
});

test("a large import completes in little memory on both nodes, and other calls and heartbeats continue", async () => {
  const nats = await connect({ servers: stage.nats.url });
  const silence = watchHeartbeats(nats);
  const ready = watchApi(`${processNamed("gateway").healthUrl}/ready`, {});
  const calls = watchApi(`${stage.cluster.url}/api/emails/lists/`, { headers: stage.headers });
  const began = performance.now();
  const answer = await importFile();
  const seconds = (performance.now() - began) / 1_000;
  const watched = [await ready.stop(), await calls.stop()];
  const longestMs = silence();
  await nats.close();
  const peaks = ["gateway", "core"].map((name) => peakMegabytes(processNamed(name).child.pid));
  process.stdout.write(
    `${ROWS} rows in ${seconds.toFixed(1)} s, peak of gateway and subscribers ${peaks.join(" and ")} MiB, ` +
      `longest between heartbeats ${longestMs} ms, slowest call ${watched[1]!.slowestMs} ms\n`,
  );
  expect(answer).toMatchObject({ status: 201, body: { total: ROWS, created: ROWS, skipped: 0 } });
  expect(await subscribers()).toBe(ROWS);
  expect(watched.map(({ failures }) => failures)).toEqual([{}, {}]);
  expect(longestMs).toBeLessThan(MISSED_MS);
  for (const megabytes of peaks) expect(megabytes).toBeLessThan(MOST_MEGABYTES);
});
