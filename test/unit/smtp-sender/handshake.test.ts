/** Which failures of TLS are worth another try: a server under load resets a handshake, or refuses one in plain text. */
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import type { TlsMode } from "../../../models/smtp-config.ts";
import { OpenError, openSession } from "../../../services/smtp-sender/smtp/session.ts";
import { selfMadeCertificate } from "../../support/certificate.ts";

const servers: Server[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => new Promise((done) => server.close(done))));
});

async function listen(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return (server.address() as AddressInfo).port;
}

const plain = (talk: (socket: Socket) => void) =>
  listen(
    createServer((socket) => {
      socket.on("error", () => {});
      talk(socket);
      socket.resume();
    }),
  );

async function failure(port: number, tlsMode: TlsMode): Promise<OpenError> {
  const endpoint = { host: "localhost", port, useTls: true, tlsMode, username: "", password: "" };
  const opened = await openSession(endpoint, {
    allowPrivate: true,
    greetingTimeoutMs: 2_000,
    loginTimeoutMs: 2_000,
  }).then(
    ({ socket }) => socket.destroy(),
    (error: Error) => error,
  );
  if (!(opened instanceof OpenError)) throw new Error("The session opened");
  return opened;
}

const answering =
  (...lines: string[]) =>
  (socket: Socket) => {
    socket.write("220 test ESMTP\r\n");
    socket.on("data", () => socket.write(lines.shift() ?? "500 what\r\n"));
  };

test("a 421 in plain text where TLS should begin (Exim beyond smtp_accept_max_per_host) is temporary", async () => {
  const port = await plain((socket) =>
    socket.end("421 Too many concurrent SMTP connections; please try again later\r\n"),
  );
  expect(await failure(port, "implicit")).toMatchObject({ stage: "tls", mayRecover: "yes" });
});

test("a handshake that is reset, or never answered, is temporary", async () => {
  const reset = await plain((socket) => socket.once("data", () => socket.resetAndDestroy()));
  expect(await failure(reset, "implicit")).toMatchObject({ stage: "tls", mayRecover: "yes" });
  const mute = await plain((socket) => socket.resume());
  expect(await failure(mute, "implicit")).toMatchObject({ stage: "tls", mayRecover: "yes" });
  const afterStartTls = await plain((socket) => {
    answering("250-test\r\n250 STARTTLS\r\n", "220 go\r\n")(socket);
    let heard = 0;
    socket.on("data", () => ++heard === 3 && socket.resetAndDestroy());
  });
  expect((await failure(afterStartTls, "starttls")).mayRecover).toBe("yes");
});

test("a server without STARTTLS is given up only where it never worked", async () => {
  for (const lines of [
    ["250 test\r\n", "502 no\r\n"],
    ["250-test\r\n250 STARTTLS\r\n", "502 not today\r\n"],
  ]) {
    const error = await failure(await plain(answering(...lines)), "starttls");
    expect(error).toMatchObject({ stage: "tls", mayRecover: "notIfItNeverWorked" });
    expect([error.isPermanent(false), error.isPermanent(true)]).toEqual([true, false]);
  }
});

test("a server that speaks no version of TLS that we do is given up only where it never worked", async () => {
  const { cert, key } = selfMadeCertificate({});
  const port = await listen(
    createTlsServer({ cert, key, minVersion: "TLSv1.1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" }),
  );
  expect(await failure(port, "implicit")).toMatchObject({ stage: "tls", mayRecover: "notIfItNeverWorked" });
});

test("a certificate of an unknown authority is the user's to correct, and the error says how to trust it", async () => {
  const { cert, key } = selfMadeCertificate({ names: ["localhost"] });
  const error = await failure(await listen(createTlsServer({ cert, key })), "implicit");
  expect(error).toMatchObject({ stage: "tls", mayRecover: "no" });
  expect(error.message).toContain("NODE_EXTRA_CA_CERTS");
});
