/** A slow server must not block for ever: a company's lease waits for it. */
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { openSession } from "../../../services/smtp-sender/smtp/session.ts";

const sockets = new Set<Socket>();
const servers: Server[] = [];
afterEach(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

async function talkative(greeting: string, talk: (socket: Socket) => void): Promise<number> {
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.write(greeting);
    talk(socket);
  });
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return (server.address() as AddressInfo).port;
}

const open = (port: number) =>
  openSession(
    { host: "127.0.0.1", port, useTls: false, username: "", password: "" },
    { allowPrivate: true, greetingTimeoutMs: 200, loginTimeoutMs: 200 },
  );

const every = (ms: number, text: string) => (socket: Socket) => {
  const timer = setInterval(() => socket.write(text), ms);
  socket.on("close", () => clearInterval(timer));
};

test.each([
  ["a greeting without end, byte by byte", "", "2"],
  ["a greeting of ever more lines", "", "220-hello\r\n"],
  ["an answer to EHLO without end", "220 hi\r\n", "2"],
  ["ever more extensions", "220 hi\r\n", "250-X\r\n"],
])("%s", async (_name, greeting, text) => {
  await expect(open(await talkative(greeting, every(50, text)))).rejects.toMatchObject({ mayRecover: "yes" });
});

test("a session with endless reply lines ends before they fill the memory", async () => {
  const block = "220-hello hello hello\r\n".repeat(3_000);
  const port = await talkative("", (socket) => {
    const more = () => {
      while (!socket.destroyed && socket.write(block));
    };
    socket.on("drain", more);
    more();
  });
  const before = process.memoryUsage.rss();
  await expect(open(port)).rejects.toMatchObject({ stage: "connect", mayRecover: "yes" });
  expect(process.memoryUsage.rss() - before).toBeLessThan(64 * 1024 * 1024);
});
