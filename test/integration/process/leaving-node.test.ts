/** Calls from a node whose knowledge of others is outdated. Uses real NATS and separate processes. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { ServiceBroker } from "moleculer";
import { connect } from "nats";
import { natsLink } from "../../../mixins/nats-link.middleware.ts";
import { rerouteCalls } from "../../../mixins/reroute.middleware.ts";
import { uploads } from "../../../mixins/uploads.middleware.ts";
import { closeDatabase, openDatabase } from "../../../models/database/db.ts";
import { brokerOptions } from "../../../moleculer.config.ts";
import { type Gateway, openGateway } from "../../../services/gateway/gateway.ts";
import type { Route } from "../../../services/gateway/routes.ts";
import { readConfig } from "../../../services/lib/config.ts";
import { Type } from "../../../services/lib/shapes.ts";
import { type Child, startChild } from "../../support/child.ts";
import { createDatabase, type TestDatabase } from "../../support/database.ts";
import { longTest } from "../../support/long.ts";
import { type Server, startNats } from "../../support/servers.ts";
import { node } from "../../support/service-process.ts";

const SCRIPT = join(import.meta.dirname, "../../support/holding-node.ts");
/** Longer than a node waits between announcing its end and its first refusal (Moleculer's `stopDelay`, 100 ms). */
const ABSENT_MS = 1_000;
/**
 * Time without heartbeats after which a node counts as unavailable (5 s, moleculer.config.ts), plus the checking
 * interval.
 */
const LONG_ABSENT_MS = 9_000;
const UPLOADED_BYTES = 300_000;

let nats: Server;
let database: TestDatabase;
let caller: ServiceBroker;
const children: Child[] = [];

interface HoldingNode {
  child: Child;
  id: string;
}
let leaving: HoldingNode;
let staying: HoldingNode;

const isKnown = (id: string, service = "holding"): Promise<boolean> =>
  caller.call(`${service}.held`, {}, { nodeID: id }).then(
    () => true,
    () => false,
  );

async function startNode(service = "holding"): Promise<HoldingNode> {
  const child = startChild(node, [SCRIPT], {
    env: {
      HOLDING: service,
      TRANSPORTER: nats.url,
      LOGLEVEL: "fatal",
      DRAIN_SECONDS: "40",
      DATABASE_URL: database.url,
    },
  });
  children.push(child);
  for (;;) {
    const [, id] = /ready as process \d+, node (\S+)/.exec(child.output()) ?? [];
    if (id && (await isKnown(id, service))) return { child, id };
    if (!child.running()) throw new Error(`It ended before it was ready:\n${child.output()}`);
    await sleep(50);
  }
}

/** Works even while this process has not noticed the end. */
const hasEnded = ({ pid }: Child) => readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");

/** Blocks this process like a lack of CPU: it reads nothing that arrives. */
const absent = (ms: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

const upload = () => {
  const options = { stream: Readable.from([Buffer.alloc(UPLOADED_BYTES)]) };
  return caller.call("holding.read", {}, options as object) as Promise<{ where: string; bytes: number }>;
};
const askedOf = () => caller.call("holding.where") as Promise<string>;

beforeAll(async () => {
  database = await createDatabase();
  openDatabase(database.url, 2);
  nats = await startNats({ own: true });
  const settings = readConfig({ TRANSPORTER: nats.url, LOGLEVEL: "fatal" }, { console: true });
  caller = new ServiceBroker({
    ...brokerOptions(settings),
    // Middlewares in the order of moleculer.config.ts.
    middlewares: [natsLink(settings), rerouteCalls(), uploads()],
    skipProcessEventRegistration: true,
  });
  await caller.start();
  staying = await startNode();
});
beforeEach(async () => {
  leaving = await startNode();
});
afterEach(async () => {
  leaving.child.signal("SIGTERM");
  while (await isKnown(leaving.id)) await sleep(50);
  leaving.child.signal("SIGKILL");
});
afterAll(async () => {
  for (const child of children) child.signal("SIGKILL");
  await Promise.all(children.map(({ ended }) => ended));
  await caller?.stop();
  await nats?.stop();
  await closeDatabase();
  await database?.drop();
});

longTest("a process that was blocked for long does not consider the others unavailable", async () => {
  const gone: string[] = [];
  (
    caller as unknown as { localBus: { on(event: string, listener: (p: { node: { id: string } }) => void): void } }
  ).localBus.on("$node.disconnected", ({ node: { id } }) => gone.push(id));
  absent(LONG_ABSENT_MS);
  await sleep(1_000);
  expect(gone).toEqual([]);
});

/** Calls a leaving node receives from a caller that does not know yet. */
async function askEverything() {
  const answers = [
    Promise.all([askedOf(), askedOf(), askedOf(), askedOf()]),
    Promise.all([upload(), upload()]),
  ] as const;
  expect(await answers[0]).toEqual(Array(4).fill(staying.id));
  expect(await answers[1]).toEqual(Array(2).fill({ where: staying.id, bytes: UPLOADED_BYTES }));
}

test("a call that a stopping node refuses is done by another node, even if not repeatable", async () => {
  expect(new Set(await Promise.all([askedOf(), askedOf()]))).toEqual(new Set([leaving.id, staying.id]));
  // Calls the leaving node only.
  const held = caller.call("holding.hold", {}, { nodeID: leaving.id }).catch(() => {});
  await caller.call("holding.where", {}, { nodeID: leaving.id });
  leaving.child.signal("SIGTERM");
  absent(ABSENT_MS);
  await askEverything();
  leaving.child.signal("SIGKILL");
  await held;
});

test("a call to a node that has left is done by another node, even if not repeatable", async () => {
  expect(new Set(await Promise.all([askedOf(), askedOf()]))).toEqual(new Set([leaving.id, staying.id]));
  leaving.child.signal("SIGTERM");
  // Reads none of its messages, and does not notice its end either.
  while (!hasEnded(leaving.child)) absent(100);
  await askEverything();
});

/** GET requests at a gateway for the actions of a service that one node has. */
function openReads(service: string): Promise<Gateway> {
  const read = (action: string) =>
    ({ method: "GET", path: `/${action}/`, action, access: "public", answer: "json", status: 200 }) as unknown as Route;
  return openGateway(caller, {
    routes: ["hold", "where"].map((action) => read(`${service}.${action}`)),
    contractOf: () => ({ summary: "A read", params: Type.Object({}), returns: Type.Any() }),
    permissionOf: () => ({ role: "viewer", scopes: ["read"] }),
    settings: readConfig({ PORT: "0", BASE_URL: "https://api.example.com" }),
  });
}

test("a call in progress on a killed node fails within 7 seconds", async () => {
  const only = await startNode("alone");
  const gateway = await openReads("alone");
  const get = async (action: string) => {
    const { status, headers } = await fetch(`${gateway.url}/alone.${action}/`);
    return { status, retryAfter: headers.get("retry-after"), afterMs: performance.now() - killedMs };
  };
  let killedMs = 0;
  try {
    const underWay = get("hold");
    while ((await caller.call("alone.held")) !== 1) await sleep(20);
    only.child.signal("SIGKILL");
    killedMs = performance.now();
    // The calls are made before and after the other nodes notice that the node has stopped.
    const answers = await Promise.all([underWay, get("where")]);
    answers.push(await get("where"));
    process.stdout.write(
      `answered ${answers.map(({ afterMs }) => (afterMs / 1_000).toFixed(1)).join(", ")} s after the kill\n`,
    );
    for (const { status, retryAfter, afterMs } of answers) {
      expect([status, Number(retryAfter)]).toEqual([503, expect.any(Number)]);
      expect(Number(retryAfter)).toBeGreaterThan(0);
      expect(afterMs).toBeLessThan(7_000);
    }
    await startNode("alone");
    expect(await get("where")).toMatchObject({ status: 200 });
  } finally {
    await gateway.drain();
  }
});

test("work that a node began before losing NATS is not repeated by another node", async () => {
  // The calls alternate between the nodes.
  const holds = [leaving, staying].map(() => caller.call("holding.hold"));
  const heldBy = ({ id }: HoldingNode) => caller.call("holding.held", {}, { nodeID: id });
  expect([await heldBy(leaving), await heldBy(staying)]).toEqual([1, 1]);
  // The node answers after reconnecting: calls in transit are lost, started ones continue.
  const client = await connect({ servers: nats.url });
  client.publish(
    "MOL-flockmail.DISCONNECT",
    JSON.stringify({ ver: ServiceBroker.PROTOCOL_VERSION, sender: leaving.id }),
  );
  await client.drain();
  await expect(Promise.race(holds)).rejects.toMatchObject({
    name: "RequestRejectedError",
    data: { nodeID: leaving.id },
  });
  expect(await heldBy(staying)).toBe(1);
  staying.child.signal("SIGKILL");
  await Promise.allSettled(holds);
});
