/** Checks when a cluster's gateway starts to accept requests: over real NATS, on its own port. */
import { ServiceBroker, type ServiceSchema } from "moleculer";
import { health } from "../../../mixins/health.middleware.ts";
import { natsLink } from "../../../mixins/nats-link.middleware.ts";
import { brokerOptions } from "../../../moleculer.config.ts";
import { readConfig } from "../../../services/lib/config.ts";
import { unusedPort } from "../../../services/lib/processes/unused-port.ts";
import { type App, startApp } from "../../support/app.ts";
import { type Server, startNats, startRedis } from "../../support/servers.ts";
import { until } from "../campaigns/world.ts";

let nats: Server;
let redis: Server;
const stops: (() => Promise<unknown>)[] = [];

const stateAt = async (port: number) => {
  const response = await fetch(`http://127.0.0.1:${port}/ready`);
  const { state } = (await response.json()) as { state: string };
  return `${response.status} ${state}`;
};

/** A node with only its link to the others. */
async function startNode(services: ServiceSchema[]): Promise<{ broker: ServiceBroker; port: number }> {
  const port = await unusedPort();
  const env = { TRANSPORTER: nats.url, LOGLEVEL: "fatal", HEALTH_PORT: String(port) };
  const settings = readConfig(env, { console: true });
  const middlewares = [natsLink(settings), health(settings).middleware];
  const broker = new ServiceBroker({ ...brokerOptions(settings), middlewares, skipProcessEventRegistration: true });
  for (const service of services) broker.createService(service);
  await broker.start();
  stops.unshift(() => broker.stop());
  return { broker, port };
}

beforeAll(async () => {
  [nats, redis] = await Promise.all([startNats({ own: true }), startRedis()]);
});
afterAll(async () => {
  for (const stop of stops) await stop();
  await Promise.all([nats?.stop(), redis?.stop()]);
});

test("a gateway is not ready until it knows each service of its routes", async () => {
  const port = await unusedPort();
  const env = { HEALTH_PORT: String(port), TRANSPORTER: nats.url, REDIS_URL: redis.url };
  const app: App = await startApp({ services: ["gateway"], env });
  stops.push(() => app.stop());
  expect(await stateAt(port)).toBe("503 starting");
  const calls = app.broker.getLocalService("gateway").metadata.calls as string[];
  expect(calls).toEqual(expect.arrayContaining(["accounts", "subscribers", "campaigns", "tracking"]));
  const { broker } = await startNode(calls.map((name) => ({ name })));
  await until(
    () => stateAt(port),
    (answer) => answer === "200 started",
  );
  // The gateway now serves all routes whose services run.
  await broker.stop();
  expect(await stateAt(port)).toBe("200 started");
});

test("a service that runs nowhere delays the start by five seconds only", async () => {
  const beganMs = performance.now();
  const { port } = await startNode([{ name: "caller", metadata: { calls: ["nobody"] } }]);
  expect(await stateAt(port)).toBe("503 starting");
  await until(
    () => stateAt(port),
    (answer) => answer.endsWith(" started"),
  );
  expect(performance.now() - beganMs).toBeGreaterThan(5_000);
});
