import { closeDatabase, pool } from "../../../models/database/db.ts";
import { unusedPort } from "../../../services/lib/processes/unused-port.ts";
import { type App, startApp } from "../../support/app.ts";
import { client } from "../../support/client.ts";
import { until } from "../campaigns/world.ts";

let port: number;

const ask = async (path: string) => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`);
  return { status: response.status, text: await response.text() };
};

describe("the health port", () => {
  let app: App;
  beforeAll(async () => {
    port = await unusedPort();
    const env = { REDIS_URL: "redis://127.0.0.1:1", HEALTH_PORT: String(port) };
    app = await startApp({ services: ["gateway", "accounts"], env });
  });
  afterAll(() => app.stop());

  const askApi = async () => {
    const response = await fetch(`${app.url}/ready`);
    return `${response.status} ${await response.text()}`;
  };

  test("/live answers, /ready reports each dependency and succeeds without Redis, other paths are 404", async () => {
    expect(await ask("/live")).toMatchObject({ status: 200 });
    const ready = await ask("/ready");
    expect(ready.status).toBe(200);
    expect(JSON.parse(ready.text)).toEqual({
      ready: true,
      state: "started",
      database: "ok",
      redis: "away",
      redis_error: expect.stringContaining("ECONNREFUSED"),
      nats: "unused",
    });
    expect(await ask("/secrets")).toMatchObject({ status: 404 });
  });

  test("/ready succeeds while all connections are busy, because it has its own", async () => {
    const busy = await Promise.all(Array.from({ length: pool().options.max }, () => pool().connect()));
    try {
      expect(JSON.parse((await ask("/ready")).text)).toMatchObject({ ready: true, database: "ok" });
    } finally {
      for (const client of busy) client.release();
    }
  });

  test("/metrics counts requests by route and status, and reports the event loop's lag", async () => {
    await client(app).get("/api/emails/subscribers/0190a0a0-0000-7000-8000-000000000000/");
    await client(app).get("/nowhere/");
    const { text } = await ask("/metrics");
    expect(text).toMatch(/^flockmail_http_requests_total\{method="GET",route="none",status="404"\} \d+$/m);
    expect(text).toMatch(/^flockmail_http_request_duration_seconds_bucket\{.*le="\+Inf".*\} \d+$/m);
    expect(text).toMatch(/^flockmail_event_loop_lag_seconds \d/m);
    expect(text.endsWith("\n")).toBe(true);
  });

  test("/metrics reports unreachable dependencies for alerts", async () => {
    const { text } = await ask("/metrics");
    expect(text).toMatch(/^flockmail_dependency_up\{dependency="database"\} 1$/m);
    expect(text).toMatch(/^flockmail_dependency_up\{dependency="redis"\} 0$/m);
    expect(text).not.toContain('dependency="nats"');
  });

  test("/ready on the API's port gives the same status without details, and checks at most once a second", async () => {
    const asking = jest.spyOn(app.broker, "call");
    const answers = await Promise.all(Array.from({ length: 50 }, askApi));
    const asked = asking.mock.calls.filter(([action]) => action === "$node.ready").length;
    asking.mockRestore();
    expect(new Set(answers)).toEqual(new Set(['200 {"ready":true}']));
    expect(asked).toBeLessThan(50);
  });

  test("/ready is 503 while the broker drains, and when the database is unavailable", async () => {
    app.broker.started = false;
    expect(JSON.parse((await ask("/ready")).text)).toMatchObject({ ready: false, state: "draining" });
    app.broker.started = true;
    await closeDatabase();
    const ready = await ask("/ready");
    expect(ready.status).toBe(503);
    expect(JSON.parse(ready.text)).toMatchObject({ ready: false, database: "away" });
    await until(askApi, (answer) => answer === '503 {"ready":false}');
  });
});
