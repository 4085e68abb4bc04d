/**
 * smtp/session.ts takes the socket over from nodemailer's SMTPConnection by its private fields. An update that renames
 * one must fail here, with its name, and not as a connection that two readers share.
 */
import SMTPConnection from "nodemailer/lib/smtp-connection";
import { openSession } from "../../../services/smtp-sender/smtp/session.ts";
import { type SmtpServer, startSmtpServer } from "../../support/smtp-server.ts";

const LISTENERS = {
  data: "_onSocketData",
  error: "_onSocketError",
  close: "_onSocketClose",
  end: "_onSocketEnd",
  timeout: "_onSocketTimeout",
} as const;

let server: SmtpServer;
beforeEach(async () => {
  server = await startSmtpServer();
});
afterEach(() => server.stop());

test("Nodemailer has its socket, listeners and EHLO lines in the fields that are read", async () => {
  const connection = new SMTPConnection({ host: server.host, port: server.port, ignoreTLS: true });
  try {
    await new Promise<void>((opened, failed) => {
      connection.once("error", failed);
      connection.connect((error) => (error ? failed(error) : opened()));
    });
    const inner = connection as unknown as Record<string, unknown> & { _socket: NodeJS.EventEmitter };
    for (const [event, field] of Object.entries(LISTENERS)) {
      expect([field, typeof inner[field]]).toEqual([field, "function"]);
      expect([field, inner._socket.listeners(event).includes(inner[field] as () => void)]).toEqual([field, true]);
    }
    expect(inner._ehloLines).toContain("PIPELINING");
  } finally {
    connection.close();
  }
});

test("Nodemailer has the EHLO reply before TLS in the field that is read", async () => {
  const connection = new SMTPConnection({ host: server.host, port: server.port, requireTLS: true });
  await new Promise((failed) => connection.once("error", failed).connect());
  expect((connection as unknown as Record<string, unknown>)._plaintextEhlo).toMatch(/^250-test.*PIPELINING/s);
});

test("Nodemailer leaves no listener on the socket of a session", async () => {
  const { socket } = await openSession(
    { host: server.host, port: server.port, useTls: false, username: "", password: "" },
    { allowPrivate: true },
  );
  try {
    const left = Object.keys(LISTENERS).map((event) => [event, socket.listenerCount(event)]);
    // Node itself listens for the end of every socket.
    expect(left).toEqual([
      ["data", 0],
      ["error", 0],
      ["close", 0],
      ["end", 1],
      ["timeout", 0],
    ]);
  } finally {
    socket.destroy();
  }
});
