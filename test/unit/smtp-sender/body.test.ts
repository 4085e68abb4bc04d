import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import * as tls from "node:tls";
import { RawMessage } from "../../../services/lib/raw-message.ts";
import { BodyWriter } from "../../../services/smtp-sender/smtp/body.ts";
import { selfMadeCertificate } from "../../support/certificate.ts";

const CONNECTIONS = 4;
const MESSAGES = 600;
const COMMANDS = "MAIL FROM:<a@example.com>\r\n";

const message = (connection: number, no: number) => `${`${connection} ${no} `.repeat(2_000)}\r\n`;

const CERTIFICATE = selfMadeCertificate();

/** Reads nothing until released, and then everything. */
async function startSlowReader(connections: number, { encrypted = false } = {}) {
  const pause = (socket: Socket) => void socket.pause();
  const server = encrypted ? tls.createServer(CERTIFICATE, pause) : createServer(pause);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const to = { port: (server.address() as AddressInfo).port, host: "127.0.0.1" };
  const pairs: { ours: Socket; theirs: Socket }[] = [];
  for (let n = 0; n < connections; n++) {
    const ours = encrypted ? tls.connect({ ...to, ca: CERTIFICATE.cert }) : connect(to);
    const [accepted, connected] = encrypted ? ["secureConnection", "secureConnect"] : ["connection", "connect"];
    const [[theirs]] = (await Promise.all([once(server, accepted!), once(ours, connected!)])) as [[Socket], unknown];
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

test.each([
  ["plain", false],
  ["encrypted", true],
])(
  "every %s connection carries its own mails, even if the kernel accepts only a part at a time",
  async (_, encrypted) => {
    const { pairs, stop } = await startSlowReader(CONNECTIONS, { encrypted });
    try {
      const writers = pairs.map(({ ours }) => new BodyWriter(ours, () => {}));
      for (let no = 0; no < MESSAGES; no++) {
        for (const [n, writer] of writers.entries()) writer.write([message(n, no)], COMMANDS);
        // Written data frees capacity for the next emails.
        await setImmediate();
      }
      // Without this, the test would prove nothing.
      expect(pairs.every(({ ours }) => ours.writableLength > 0)).toBe(true);
      for (const { ours } of pairs) ours.end();
      const received = await Promise.all(pairs.map(({ theirs }) => readAll(theirs)));
      const expected = pairs.map((_, n) =>
        Array.from({ length: MESSAGES }, (_, no) => `${message(n, no)}.\r\n${COMMANDS}`).join(""),
      );
      // Compares lengths first: a diff of megabytes is useless.
      expect(received.map(({ length }) => length)).toEqual(expected.map(({ length }) => length));
      expect(received.map((text, n) => text === expected[n])).toEqual(pairs.map(() => true));
    } finally {
      stop();
    }
  },
);

test("a message that is not dot-stuffed as promised does not end early", async () => {
  const { pairs, stop } = await startSlowReader(1);
  try {
    const [{ ours, theirs }] = pairs as [(typeof pairs)[0]];
    const writer = new BodyWriter(ours, () => {});
    const inPieces = new RawMessage([Buffer.from("g\r\n"), ".h", Buffer.from(".i"), "\r\n"]);
    for (const text of [".a\r\n", "b\r\n.\r\nc\r\n", "d d", inPieces, `e\r\n.${"f".repeat(200_000)}`])
      writer.write([text], COMMANDS);
    const received = readAll(theirs);
    while (writer.busy) await setImmediate();
    ours.end();
    const expected = ["..a\r\n", "b\r\n..\r\nc\r\n", "d d\r\n", "g\r\n..h.i\r\n", `e\r\n..${"f".repeat(200_000)}\r\n`];
    const whole = expected.map((text) => `${text}.\r\n${COMMANDS}`).join("");
    expect((await received) === whole).toBe(true);
  } finally {
    stop();
  }
});
