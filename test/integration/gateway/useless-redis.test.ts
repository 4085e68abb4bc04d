/** A Redis that answers PING but accepts no writes: nothing can be counted, and the log says why. */
import { unusedPort } from "../../../services/lib/processes/unused-port.ts";
import { type App, startApp } from "../../support/app.ts";
import { type Server, startRedis } from "../../support/servers.ts";

let replica: Server;
let app: App;
let health: string;

beforeAll(async () => {
  // A replica that never finds its primary.
  replica = await startRedis({ own: true, args: () => ["--replicaof", "127.0.0.1", "1"] });
  const port = await unusedPort();
  health = `http://127.0.0.1:${port}`;
  app = await startApp({ services: ["gateway", "accounts"], env: { REDIS_URL: replica.url, HEALTH_PORT: `${port}` } });
});
afterAll(async () => {
  await app?.stop();
  await replica.stop();
});

test("a Redis that cannot be written is reported as unavailable with the reason by /ready and /metrics", async () => {
  const ready = await (await fetch(`${health}/ready`)).json();
  expect(ready).toMatchObject({ ready: true, redis: "away", redis_error: expect.stringContaining("READONLY") });
  const metrics = await (await fetch(`${health}/metrics`)).text();
  expect(metrics).toMatch(/^flockmail_dependency_up\{dependency="redis"\} 0$/m);
});
