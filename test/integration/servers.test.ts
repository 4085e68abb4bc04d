import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { Redis } from "ioredis";
import { connect } from "nats";
import { listening } from "../support/child.ts";
import { postfixTools, startNats, startRedis, startSmtpSink } from "../support/servers.ts";

const portOf = (url: string) => Number(new URL(url).port);

describe("servers for tests", () => {
  jest.setTimeout(240_000);

  test("Redis answers, and is unreachable after it is stopped", async () => {
    const server = await startRedis({ own: true });
    const redis = new Redis(server.url);
    expect(await redis.set("k", "v")).toBe("OK");
    await redis.quit();
    await server.stop();
    expect(await listening(portOf(server.url))).toBe(false);
  });

  test("NATS answers, and can be started again on its port", async () => {
    const first = await startNats({ own: true });
    await first.stop();
    const second = await startNats({ own: true, port: portOf(first.url) });
    const nats = await connect({ servers: second.url });
    expect(await nats.rtt()).toBeGreaterThanOrEqual(0);
    await nats.close();
    await second.stop();
  });

  test("smtp-source delivers into smtp-sink", async () => {
    const sink = await startSmtpSink();
    const { source } = await postfixTools();
    const args = ["-m", "50", "-s", "2", "-d", "-f", "a@example.com", "-t", "b@example.com", "-M", "localhost"];
    await promisify(execFile)(source.path, [...args, `127.0.0.1:${portOf(sink.url)}`], {
      env: { ...process.env, ...source.env },
      timeout: 20_000,
    });
    await sink.stop();
  });
});
