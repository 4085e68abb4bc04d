/** Tests of the proxy that other tests use to break networks. */
import { once } from "node:events";
import { connect, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type SilentProxy, startSilentProxy } from "../support/silent-proxy.ts";

const MEBIBYTE = 1024 * 1024;

let server: Server;
let accepted: Socket[];
let heard: string;
let proxy: SilentProxy;
let clients: Socket[];

/** Answers each chunk in capitals. */
beforeEach(async () => {
  [accepted, heard, clients] = [[], "", []];
  server = createServer((socket) => {
    accepted.push(socket);
    socket.on("error", () => {});
    socket.on("data", (chunk) => {
      heard += chunk;
      socket.write(`${chunk}`.toUpperCase());
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  proxy = await startSilentProxy((server.address() as { port: number }).port);
});
afterEach(async () => {
  for (const socket of [...clients, ...accepted]) socket.destroy();
  await proxy.stop();
  await new Promise((done) => server.close(done));
});

interface Client {
  socket: Socket;
  heard: () => string;
  error: () => string | undefined;
  ended: () => boolean;
}

async function client(): Promise<Client> {
  const socket = connect(proxy.port, "127.0.0.1");
  clients.push(socket);
  let text = "";
  let code: string | undefined;
  let end = false;
  socket.on("data", (chunk) => {
    text += chunk;
  });
  socket.on("error", (error: NodeJS.ErrnoException) => {
    code = error.code;
  });
  socket.on("close", () => {
    end = true;
  });
  await Promise.race([once(socket, "connect"), once(socket, "close")]).catch(() => {});
  return { socket, heard: () => text, error: () => code, ended: () => end };
}

async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`Never: ${condition}`);
    await sleep(5);
  }
}

/** A client that has received an answer. */
async function talking(): Promise<Client> {
  const one = await client();
  one.socket.write("one ");
  await until(() => one.heard() === "ONE ");
  return one;
}

const quiet = () => sleep(100);

test("it forwards in both directions, and closes each end when the other closes", async () => {
  const one = await talking();
  one.socket.end();
  await until(() => one.ended() && proxy.connections === 0);
  const two = await talking();
  accepted[1]!.resetAndDestroy();
  await until(() => two.ended());
  expect(two.error()).toBe("ECONNRESET");
});

test("hold keeps all data, also of new connections, and pass delivers it in order", async () => {
  const one = await talking();
  proxy.hold();
  one.socket.write("two ");
  const late = await client();
  late.socket.write("late ");
  await quiet();
  expect([one.heard(), late.heard(), heard]).toEqual(["ONE ", "", "one "]);
  one.socket.write("three");
  await proxy.pass();
  await until(() => one.heard() === "ONE TWO THREE" && late.heard() === "LATE ");
});

test("the server notices the end of a held client only after pass", async () => {
  const one = await talking();
  let notified = false;
  accepted[0]!.on("close", () => {
    notified = true;
  });
  proxy.hold();
  one.socket.resetAndDestroy();
  await quiet();
  expect(notified).toBe(false);
  await proxy.pass();
  await until(() => notified);
});

test.each(["toServer", "toClient"] as const)("hold %s stops that direction only", async (way) => {
  const one = await talking();
  proxy.hold(way);
  one.socket.write("two");
  await (way === "toServer" ? quiet() : until(() => heard === "one two"));
  await quiet();
  expect([heard, one.heard()]).toEqual([way === "toServer" ? "one " : "one two", "ONE "]);
  await proxy.pass();
  await until(() => one.heard() === "ONE TWO");
});

test("swallow acknowledges and discards: a connection that lost bytes stays silent after pass until it is cut", async () => {
  const [one, idle] = [await talking(), await talking()];
  proxy.swallow();
  one.socket.write("two ");
  const late = await client();
  late.socket.write("late");
  await quiet();
  await proxy.pass();
  one.socket.write("three ");
  idle.socket.write("still ");
  await until(() => idle.heard() === "ONE STILL ");
  await quiet();
  expect([one.heard(), one.ended(), late.heard(), late.ended()]).toEqual(["ONE ", false, "", false]);
  expect(accepted.map(({ destroyed }) => destroyed)).toEqual([false, false]);
  proxy.cut({ onlyMute: true });
  await until(() => one.ended() && late.ended());
  expect(idle.ended()).toBe(false);
});

test("swallow discards any number of bytes without storing them", async () => {
  const one = await talking();
  proxy.swallow("toServer");
  const before = process.memoryUsage().arrayBuffers;
  const piece = Buffer.alloc(MEBIBYTE, 97);
  for (let n = 0; n < 256; n++) if (!one.socket.write(piece)) await once(one.socket, "drain");
  // Includes garbage that is not yet collected.
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(192 * MEBIBYTE);
  expect(heard).toBe("one ");
});

test("hold lets the sender keep what does not fit", async () => {
  const one = await talking();
  proxy.hold();
  for (let n = 0; n < 64; n++) one.socket.write(Buffer.alloc(MEBIBYTE, 97));
  await quiet();
  expect(one.socket.writableLength).toBeGreaterThan(32 * MEBIBYTE);
});

test("reset ends open and new connections, and refuse behaves like a closed port", async () => {
  const one = await talking();
  proxy.reset();
  await until(() => one.error() === "ECONNRESET");
  const two = await client();
  await until(() => two.ended());
  await proxy.pass();
  await talking();
  await proxy.refuse();
  const three = await client();
  await until(() => three.error() === "ECONNREFUSED");
  await proxy.pass();
  await talking();
});

test("a connection that one end has closed is cut like any other", async () => {
  const one = await talking();
  proxy.hold("toClient");
  one.socket.end();
  await until(() => accepted[0]!.destroyed);
  proxy.cut();
  await until(() => one.ended() && proxy.connections === 0);
});

test("a delay keeps order and loses nothing, and may end at any time", async () => {
  const one = await talking();
  proxy.delay(50);
  let sent = "";
  for (let n = 0; n < 20; n++) {
    one.socket.write(`${n} `);
    sent += `${n} `;
    await sleep(3);
    if (n === 15) proxy.delay(0);
  }
  await until(() => one.heard() === `ONE ${sent}`);
});

test("a new target gets new connections, and an unavailable target resets them", async () => {
  const other = createServer((socket) => socket.end("the other")).listen(0, "127.0.0.1");
  await once(other, "listening");
  const one = await talking();
  proxy.target((other.address() as { port: number }).port);
  const two = await client();
  await until(() => two.heard() === "the other");
  one.socket.write("two");
  await until(() => one.heard() === "ONE TWO");
  await new Promise((done) => other.close(done));
  const three = await client();
  await until(() => three.ended());
  expect(three.error()).toBe("ECONNRESET");
});
