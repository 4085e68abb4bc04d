import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { BodyWriter } from "../../../services/smtp-sender/smtp/body.ts";

const CONNECTIONS = 4;
const MESSAGES = 600;
const COMMANDS = "MAIL FROM:<a@example.com>\r\n";

const message = (connection: number, no: number) => `${`${connection} ${no} `.repeat(2_000)}\r\n`;

/** Reads nothing until it is told to, and then everything. */
async function startSlowReader(connections: number) {
  const server = createServer((socket) => void socket.pause());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const pairs: { ours: Socket; theirs: Socket }[] = [];
  for (let n = 0; n < connections; n++) {
    const ours = connect({ port, host: "127.0.0.1" });
    const [[theirs]] = (await Promise.all([once(server, "connection"), once(ours, "connect")])) as [[Socket], unknown];
    pairs.push({ ours, theirs });
  }
  const stop = () => {
    for (const { ours, theirs } of pairs) for (const socket of [ours, theirs]) socket.destroy();
    server.close();
  };
  return { pairs, stop };
}

async function readAll(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk)).resume();
  await once(socket, "end");
  return Buffer.concat(chunks).toString("latin1");
}

test("each connection carries its own bytes, also where the kernel takes only a part of them for now", async () => {
  const { pairs, stop } = await startSlowReader(CONNECTIONS);
  try {
    const writers = pairs.map(({ ours }) => new BodyWriter(ours, () => {}));
    for (let no = 0; no < MESSAGES; no++) {
      for (const [n, writer] of writers.entries()) writer.write([message(n, no)], COMMANDS);
    }
    // Else this would show nothing.
    expect(pairs.every(({ ours }) => ours.writableLength > 0)).toBe(true);
    for (const { ours } of pairs) ours.end();
    const received = await Promise.all(pairs.map(({ theirs }) => readAll(theirs)));
    const expected = pairs.map((_, n) =>
      Array.from({ length: MESSAGES }, (_, no) => `${message(n, no)}.\r\n${COMMANDS}`).join(""),
    );
    // Lengths first: a difference of megabytes helps nobody.
    expect(received.map(({ length }) => length)).toEqual(expected.map(({ length }) => length));
    expect(received.map((text, n) => text === expected[n])).toEqual(pairs.map(() => true));
  } finally {
    stop();
  }
});
