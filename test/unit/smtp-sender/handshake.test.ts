/** TLS failures that are retried: a server under load resets a handshake, or refuses one in plain text. */
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

async function failure(port: number, tlsMode: TlsMode, login = ""): Promise<OpenError> {
  const endpoint = { host: "localhost", port, useTls: true, tlsMode, username: login, password: login };
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

test("a plain-text 421 instead of a TLS handshake (Exim beyond smtp_accept_max_per_host) is temporary", async () => {
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

test("a server without STARTTLS fails permanently only if it never worked, and the error names the setting", async () => {
  const notOffered = /offers no STARTTLS.* set `tls_mode` to "none"/;
  for (const [says, ...lines] of [
    [notOffered, "250 test\r\n", "500 what\r\n"],
    [notOffered, "502 no EHLO\r\n", "250 test\r\n"],
    [/502 not today$/, "250-test\r\n250 STARTTLS\r\n", "502 not today\r\n"],
  ] as const) {
    const error = await failure(await plain(answering(...lines)), "starttls");
    expect(error.message).toMatch(says);
    expect(error).toMatchObject({ stage: "tls", mayRecover: "notIfItNeverWorked" });
    expect([error.isPermanent(false), error.isPermanent(true)]).toEqual([true, false]);
  }
});

test("a server without a common TLS version fails permanently only if it never worked", async () => {
  const { cert, key } = selfMadeCertificate({});
  const port = await listen(
    createTlsServer({ cert, key, minVersion: "TLSv1.1", maxVersion: "TLSv1.1", ciphers: "DEFAULT@SECLEVEL=0" }),
  );
  expect(await failure(port, "implicit")).toMatchObject({ stage: "tls", mayRecover: "notIfItNeverWorked" });
});

test("a certificate of an unknown authority is the user's to correct, and the error explains how to trust it", async () => {
  const { cert, key } = selfMadeCertificate({ names: ["localhost"] });
  const error = await failure(await listen(createTlsServer({ cert, key })), "implicit");
  expect(error).toMatchObject({ stage: "tls", mayRecover: "no" });
  expect(error.message).toContain("NODE_EXTRA_CA_CERTS");
});

test("a server that does not begin with TLS gets an error that names the setting", async () => {
  const error = await failure(await plain(answering()), "implicit");
  expect(error).toMatchObject({ stage: "tls", message: expect.stringContaining('set `tls_mode` to "starttls"') });
});

const AUTH = (...mechanisms: string[]) => `250-test\r\n250 AUTH ${mechanisms.join(" ")}\r\n`;
const REFUSED = /refused the login: /;

test.each<[string, string[], { mayRecover?: string; message: RegExp }]>([
  [
    "none has it",
    [AUTH("PLAIN", "LOGIN"), "502 no\r\n", "504 no LOGIN\r\n"],
    { mayRecover: "no", message: /504 no LOGIN$/ },
  ],
  ["a text about the password", [AUTH("PLAIN", "LOGIN"), "554 Bad password\r\n"], { message: /Bad password$/ }],
  ["535", [AUTH("PLAIN", "LOGIN"), "535 5.7.8 no\r\n"], { mayRecover: "no", message: /535 5\.7\.8 no$/ }],
  [
    "535 for a mechanism, and then a wait",
    [AUTH("PLAIN", "LOGIN"), "535 5.7.8 No mechanism available\r\n", "454 later\r\n"],
    { mayRecover: "yes", message: /454 later$/ },
  ],
  [
    "a temporary error is not about the mechanism",
    [AUTH("PLAIN", "LOGIN"), "454 4.7.0 later\r\n"],
    { mayRecover: "yes", message: /454 4\.7\.0 later$/ },
  ],
])("a refused login is classified: %s", async (_what, lines, { mayRecover = "no", message }) => {
  const error = await failure(await plain(answering(...lines)), "none", "u");
  expect(error).toMatchObject({ stage: "auth", mayRecover });
  expect(error.message).toMatch(REFUSED);
  expect(error.message).toMatch(message);
});

test("a server that closes the connection after its refusal has refused the login", async () => {
  const port = await plain((socket) => {
    const lines = [AUTH("PLAIN", "LOGIN"), "504 only others\r\n"];
    socket.write("220 test ESMTP\r\n");
    socket.on("data", () => (lines.length > 1 ? socket.write(lines.shift()!) : socket.end(lines[0]!)));
  });
  expect((await failure(port, "none", "u")).message).toMatch(/refused the login: 504 only others$/);
});

test.each([
  ["250 test\r\n", /offers no login \(AUTH\)\. Leave `username` and `password` empty/],
  ["250-test\r\n250 STARTTLS\r\n", /over TLS: set `tls_mode` to "starttls"\.$/],
  [AUTH("GSSAPI", "NTLM"), /no login with a password, but GSSAPI, NTLM\.$/],
])("an impossible login is explained when the answer to EHLO is %j", async (toEhlo, message) => {
  const error = await failure(await plain(answering(toEhlo)), "none", "u");
  expect(error).toMatchObject({ stage: "auth", mayRecover: "notIfItNeverWorked" });
  expect(error.message).toMatch(message);
});
