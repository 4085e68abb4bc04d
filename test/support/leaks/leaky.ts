/** Run by jest in test/unit/leak-environment.test.ts before tidy.ts: each test leaves something else behind. */
import { spawn } from "node:child_process";
import { connect, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { ServiceBroker } from "moleculer";

test("a timer", () => {
  setInterval(() => {}, 60_000);
});
test("a timer of node:timers", () => {
  void sleep(60_000);
});
test("a server, and a paused socket", async () => {
  await new Promise<void>((done) => {
    const server = createServer((socket) => {
      socket.pause();
      done();
    });
    server.listen(0, "127.0.0.1", () => connect((server.address() as { port: number }).port, "127.0.0.1").unref());
  });
});
test("a child process", () => {
  spawn("sleep", ["60"], { stdio: "ignore" });
});
test("a database", () => {
  (globalThis as { testDatabases?: Set<string> }).testDatabases = new Set(["forgotten"]);
});
test("loops that continue in the next file", () => {
  const again = () => void setTimeout(again, 5);
  again();
  const forEver = async () => {
    for (;;) await sleep(5);
  };
  void forEver();
  const connected = () => connect(1, "127.0.0.1").on("error", () => setTimeout(connected, 5));
  connected();
});
test("something in a package that files share, and what a package gave to promises", () => {
  new ServiceBroker({ logger: false });
  expect(Promise.prototype).toHaveProperty("timeout");
  Object.assign(LRUCache, { left: "behind" });
});
