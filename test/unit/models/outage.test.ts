import pg from "pg";
import { isDatabaseOutage, retryInOutage } from "../../../models/database/outage.ts";
import { startSilentProxy } from "../../support/silent-proxy.ts";

/** Simulates a busy machine: connections are accepted, and nothing is answered. */
async function lateConnection(): Promise<Error> {
  const proxy = await startSilentProxy(1);
  proxy.hold();
  const client = new pg.Client({ host: "127.0.0.1", port: proxy.port, connectionTimeoutMillis: 20 });
  try {
    return await client.connect().then(
      () => new Error("It connected"),
      (error: Error) => error,
    );
  } finally {
    await proxy.stop();
  }
}

test("a connection that PostgreSQL is too slow to take is an outage, and a start tries it again", async () => {
  const late = await lateConnection();
  expect([late.message, isDatabaseOutage(late)]).toEqual([late.message, true]);
  let tries = 0;
  const work = async () => {
    if (++tries < 3) throw late;
    return "served";
  };
  expect(await retryInOutage(work, { pauseMs: 1 })).toBe("served");
});

test("a start fails after a long outage, and at once if PostgreSQL refuses", async () => {
  const tried: string[] = [];
  const failing = (code: string) => () => {
    tried.push(code);
    return Promise.reject(Object.assign(new Error(code), { code }));
  };
  const startedMs = performance.now();
  await expect(retryInOutage(failing("57P03"), { forMs: 100, pauseMs: 10 })).rejects.toThrow("57P03");
  expect(performance.now() - startedMs).toBeGreaterThanOrEqual(100);
  const outages = tried.splice(0).length;
  expect(outages).toBeGreaterThan(1);
  expect(outages).toBeLessThanOrEqual(12);
  await expect(retryInOutage(failing("28P01"), { pauseMs: 10 })).rejects.toThrow("28P01");
  expect(tried).toEqual(["28P01"]);
});
