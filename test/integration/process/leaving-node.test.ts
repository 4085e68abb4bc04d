/** Calls of a node that is late: what it knows of the others is older than what they are. Real NATS, processes of their own. */
import { join } from "node:path";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { ServiceBroker } from "moleculer";
import { natsLink } from "../../../mixins/nats-link.middleware.ts";
import { stepAside } from "../../../mixins/step-aside.middleware.ts";
import { streams } from "../../../mixins/streams.middleware.ts";
import { brokerOptions } from "../../../moleculer.config.ts";
import { readConfig } from "../../../services/lib/config.ts";
import { type Child, startChild } from "../../support/child.ts";
import { type Server, startNats } from "../../support/servers.ts";
import { node } from "../../support/service-process.ts";

const SCRIPT = join(import.meta.dirname, "../../support/holding-node.ts");
/** Longer than a node waits between its announcement and its first refusal (Moleculer's `stopDelay`, 100 ms). */
const ABSENT_MS = 1_000;
/** Of the silence after which a node counts as gone (6 s, moleculer.config.ts), with what a look at it takes. */
const LONG_ABSENT_MS = 9_000;
const UPLOADED_BYTES = 300_000;

let nats: Server;
let caller: ServiceBroker;
const children: Child[] = [];
const ids: string[] = [];

async function startNode(): Promise<Child> {
  const child = startChild(node, [SCRIPT], { env: { TRANSPORTER: nats.url, LOGLEVEL: "fatal", DRAIN_SECONDS: "40" } });
  children.push(child);
  for (;;) {
    const [, id] = /ready as process \d+, node (\S+)/.exec(child.output()) ?? [];
    if (id) {
      ids.push(id);
      return child;
    }
    if (!child.running()) throw new Error(`It ended before it was ready:\n${child.output()}`);
    await sleep(50);
  }
}

/** As a process is that gets no CPU: nothing that arrives is read. */
const absent = (ms: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

const upload = () => {
  const options = { stream: Readable.from([Buffer.alloc(UPLOADED_BYTES)]) };
  return caller.call("holding.read", {}, options as object) as Promise<{ where: string; bytes: number }>;
};
const askedOf = () => caller.call("holding.where") as Promise<string>;

beforeAll(async () => {
  nats = await startNats({ own: true });
  const settings = readConfig({ TRANSPORTER: nats.url, LOGLEVEL: "fatal" }, { console: true });
  caller = new ServiceBroker({
    ...brokerOptions(settings),
    // In the order of moleculer.config.ts.
    middlewares: [natsLink(settings), streams(), stepAside()],
    skipProcessEventRegistration: true,
  });
  await caller.start();
  await Promise.all([startNode(), startNode()]);
  for (const id of ids) await caller.waitForServices("holding", 30_000).then(() => caller.ping(id));
});
afterAll(async () => {
  for (const child of children) child.signal("SIGKILL");
  await Promise.all(children.map(({ ended }) => ended));
  await caller?.stop();
  await nats?.stop();
});

test("a process that was absent for long does not take the others for gone: it was silent, and not they", async () => {
  const gone: string[] = [];
  (
    caller as unknown as { localBus: { on(event: string, listener: (p: { node: { id: string } }) => void): void } }
  ).localBus.on("$node.disconnected", ({ node: { id } }) => gone.push(id));
  absent(LONG_ABSENT_MS);
  await sleep(1_000);
  expect(gone).toEqual([]);
});

test("what a node refuses that is stopping is done by another one, also what may be done once only", async () => {
  const [leaving] = children as [Child];
  const [leavingId, stayingId] = ids as [string, string];
  expect(new Set(await Promise.all([askedOf(), askedOf()]))).toEqual(new Set([leavingId, stayingId]));
  // It waits for this one, and takes no other meanwhile.
  const held = caller.call("holding.hold", {}, { nodeID: leavingId }).catch(() => {});
  await caller.call("holding.where", {}, { nodeID: leavingId });
  leaving.signal("SIGTERM");
  absent(ABSENT_MS);
  const answers = [
    Promise.all([askedOf(), askedOf(), askedOf(), askedOf()]),
    Promise.all([upload(), upload()]),
  ] as const;
  expect(await answers[0]).toEqual([stayingId, stayingId, stayingId, stayingId]);
  expect(await answers[1]).toEqual(Array(2).fill({ where: stayingId, bytes: UPLOADED_BYTES }));
  leaving.signal("SIGKILL");
  await held;
});
