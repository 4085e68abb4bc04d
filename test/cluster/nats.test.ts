/**
 * NATS fails silently: a server is frozen or cut off, or a node behind it. The API is polled ten times a second.
 * FAILURES=long (`npm run test:failures`) takes every fault, and longer.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { apiAt } from "../support/api.ts";
import type { Child } from "../support/child.ts";
import { type Cluster, layoutTogether, startCluster } from "../support/cluster.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import { long } from "../support/long.ts";
import { type NatsCluster, type NatsNode, startNatsCluster } from "../support/nats-cluster.ts";
import { type Server, startRedis } from "../support/servers.ts";
import { type SilentProxy, startSilentProxy } from "../support/silent-proxy.ts";
import { type Watched, watchApi } from "../support/watch-api.ts";

/** The promise is 10 s, plus some time for a busy machine. */
const FAILS_AT_MOST_MS = long ? 15_000 : 11_000;
const SILENT_MS = long ? 60_000 : 13_000;
const AFTERWARDS_MS = long ? 30_000 : 2_000;

jest.setTimeout(600_000);

let database: TestDatabase;
let redis: Server;
let nats: NatsCluster;
let proxies: SilentProxy[];
let cluster: Cluster;
let key: string;

async function signUp(url: string): Promise<string> {
  const { company, access } = await apiAt(url)<{ company: { id: string }; access: string }>(
    "POST",
    "/api/auth/register/",
    { email: "ann@example.com", password: "a password for tests", company_name: "Lantern Books" },
  );
  const bearer = apiAt(url, { authorization: `Bearer ${access}` });
  return (await bearer<{ key: string }>("POST", `/api/companies/${company.id}/api-keys/`, { name: "test" })).key;
}

beforeAll(async () => {
  [database, redis, nats] = await Promise.all([
    createDatabase(),
    startRedis({ own: true }),
    startNatsCluster(3, { advertise: false }),
  ]);
  proxies = await Promise.all(nats.nodes.map(({ port }) => startSilentProxy(port)));
  cluster = await startCluster({
    databaseUrl: database.url,
    redisUrl: redis.url,
    natsUrl: process.env.ONE
      ? `nats://127.0.0.1:${proxies[0]!.port}`
      : proxies.map(({ port }) => `nats://127.0.0.1:${port}`).join(","),
    senders: 0,
    layout: { ...layoutTogether, core2: layoutTogether.core },
  });
  key = await signUp(cluster.url);
});
afterAll(async () => {
  await cluster?.stop();
  await Promise.all(proxies?.map((proxy) => proxy.stop()) ?? []);
  await Promise.all([nats?.stop(), redis?.stop()]);
  await database?.drop();
});
beforeEach(() => cluster.joined());

/** The NATS server to which this process is connected. */
async function serverOf(name: string): Promise<NatsNode> {
  const { pid } = cluster.processes.get(name)!.child;
  const clients = await Promise.all(nats.nodes.map((node) => node.clients()));
  const found = clients.findIndex((names) => names.some((client) => client.includes(`-${pid}-`)));
  if (found < 0) throw new Error(`${name} is connected to no NATS server: ${JSON.stringify(clients)}`);
  return nats.nodes[found]!;
}

interface Fault {
  begin(): void | Promise<void>;
  end(): void | Promise<void>;
}

const freeze = (child: Child): Fault => ({
  begin: () => child.signal("SIGSTOP"),
  end: () => child.signal("SIGCONT"),
});

const FAULTS: [string, () => Fault | Promise<Fault>][] = [
  ["the NATS server of the gateway freezes", async () => freeze((await serverOf("gateway")).child)],
  ["the NATS server of the other services freezes", async () => freeze((await serverOf("core")).child)],
  ["one of two nodes with the same services freezes", () => freeze(cluster.processes.get("core")!.child)],
  [
    "the way to one NATS server swallows everything",
    async () => {
      const proxy = proxies[nats.nodes.indexOf(await serverOf("gateway"))]!;
      return { begin: () => proxy.swallow(), end: () => proxy.pass() };
    },
  ],
  [
    "a NATS server is killed",
    async () => {
      const { child } = await serverOf("gateway");
      return { begin: () => child.signal("SIGKILL"), end: () => {} };
    },
  ],
];

/** The API's answers from a second before the fault until some time after it. */
async function watched(fault: Fault): Promise<Watched> {
  const watch = watchApi(`${cluster.url}/api/emails/lists/`, { headers: { "x-api-key": key } });
  await sleep(1_000);
  await fault.begin();
  await sleep(SILENT_MS);
  await fault.end();
  await sleep(AFTERWARDS_MS);
  const seen = await watch.stop();
  if (long) process.stderr.write(`${expect.getState().currentTestName}: ${JSON.stringify(seen)}\n`);
  return seen;
}

test.each(long ? FAULTS : FAULTS.slice(0, 1))("%s: the API continues", async (_what, faultOf) => {
  const { longestFailureMs } = await watched(await faultOf());
  expect(longestFailureMs).toBeLessThan(FAILS_AT_MOST_MS);
});

if (long) {
  test("after a partition from all NATS servers local calls continue, and all others work again when the servers return", async () => {
    const pages = watchApi(`${cluster.url}/openapi.json`, {});
    const { longestFailureMs } = await watched({
      begin: () => {
        for (const proxy of proxies) proxy.swallow();
      },
      end: async () => {
        await Promise.all(proxies.map((proxy) => proxy.pass()));
      },
    });
    expect(longestFailureMs).toBeLessThan(SILENT_MS + FAILS_AT_MOST_MS);
    expect((await pages.stop()).failed).toBe(0);
  });
}
