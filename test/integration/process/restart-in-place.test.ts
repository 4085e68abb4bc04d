import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ServiceBroker } from "moleculer";
import { natsLink } from "../../../mixins/nats-link.middleware.ts";
import { brokerOptions } from "../../../moleculer.config.ts";
import { readConfig } from "../../../services/lib/config.ts";
import type { Child } from "../../support/child.ts";
import { startAsFirst } from "../../support/container.ts";
import { type Server, startNats } from "../../support/servers.ts";
import { node } from "../../support/service-process.ts";

const SCRIPT = join(import.meta.dirname, "../../support/holding-node.ts");

let nats: Server;
let caller: ServiceBroker;
const children: Child[] = [];
beforeAll(async () => {
  nats = await startNats({ own: true });
  const settings = readConfig({ TRANSPORTER: nats.url, LOGLEVEL: "fatal" }, { console: true });
  caller = new ServiceBroker({
    ...brokerOptions(settings),
    middlewares: [natsLink(settings)],
    skipProcessEventRegistration: true,
  });
  await caller.start();
});
afterAll(async () => {
  for (const child of children) child.signal("SIGKILL");
  await Promise.all(children.map(({ ended }) => ended));
  await caller?.stop();
  await nats?.stop();
});

async function startNode(): Promise<{ child: Child; pid: string; id: string }> {
  const child = startAsFirst(node, [SCRIPT], { env: { TRANSPORTER: nats.url, LOGLEVEL: "fatal" } });
  children.push(child);
  for (;;) {
    const [, pid, id] = /ready as process (\d+), node (\S+)/.exec(child.output()) ?? [];
    if (pid && id) return { child, pid, id };
    if (!child.running()) throw new Error(`It ended before it was ready:\n${child.output()}`);
    await sleep(50);
  }
}

test("calls that wait for a container that is killed and restarted in place fail at once instead of timing out", async () => {
  const before = await startNode();
  await caller.waitForServices("holding");
  const failure = caller.call("holding.hold", {}, { timeout: 45_000 }).then(
    () => "answered",
    ({ name }: Error) => name,
  );
  before.child.signal("SIGKILL");
  const after = await startNode();
  expect({ before: before.pid, after: after.pid }).toEqual({ before: "1", after: "1" });
  expect(after.id).not.toBe(before.id);
  expect(await failure).toBe("RequestRejectedError");
}, 90_000);
