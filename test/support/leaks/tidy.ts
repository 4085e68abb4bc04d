/** After leaky.ts: opens the same and closes it, the last of it only after its tests have ended. */
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { LRUCache } from "lru-cache";

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
