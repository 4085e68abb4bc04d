/** Run after leaky.ts: opens the same things and closes them, the last one only after its tests. */
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { LRUCache } from "lru-cache";
import { Errors, ServiceBroker } from "moleculer";

const server = createServer((socket) => socket.end());
afterAll(() => void setTimeout(() => server.close(), 100));

test("closes what it opens", async () => {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  await once(connect((server.address() as { port: number }).port, "127.0.0.1").resume(), "close");
});

test("finds packages as they are when they were loaded", () => {
  expect(LRUCache).not.toHaveProperty("left");
});

test("finds promises as packages expect them that are loaded anew", async () => {
  const broker = new ServiceBroker({ logger: false, requestTimeout: 20 });
  broker.createService({ name: "slow", actions: { ask: () => new Promise(() => {}) } });
  await broker.start();
  const error = await broker.call("slow.ask").catch((thrown: unknown) => thrown);
  await broker.stop();
  expect(error).toBeInstanceOf(Errors.RequestTimeoutError);
});
