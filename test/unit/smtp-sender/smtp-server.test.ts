import { createTransport } from "nodemailer";
import { type SmtpServer, startSmtpServer } from "../../support/smtp-server.ts";

let server: SmtpServer;
afterEach(() => server.stop());

async function send(options: Record<string, unknown> = {}) {
  const transport = createTransport({ host: "127.0.0.1", port: server.port, ...options } as object);
  try {
    return await transport.sendMail({
      from: "a@example.com",
      to: "b@example.com",
      messageId: "<1@x>",
      text: ".dot\r\nhi",
    });
  } finally {
    transport.close();
  }
}

test("the test server keeps what it accepts, with its envelope and bytes", async () => {
  server = await startSmtpServer();
  await send();
  await server.received(1);
  expect(server.messages[0]).toMatchObject({ from: "a@example.com", to: ["b@example.com"], messageId: "<1@x>" });
  expect(server.messages[0]!.raw).toContain("\r\n.dot\r\nhi");
  expect(server.protocolErrors).toEqual([]);
});

test.each(["starttls", "implicit"] as const)("the test server supports TLS (%s) and asks for a login", async (tls) => {
  server = await startSmtpServer({ tls, auth: { user: "u", pass: "p" } });
  const options = { secure: tls === "implicit", auth: { user: "u", pass: "p" }, tls: { ca: server.certificate.cert } };
  await send({ ...options, requireTLS: true });
  expect(server.messages[0]).toMatchObject({ tls: true, user: "u" });
  await expect(send({ ...options, auth: { user: "u", pass: "wrong" } })).rejects.toThrow("535");
});

test("the test server answers by its script", async () => {
  server = await startSmtpServer({ answer: ({ verb }) => (verb === "RCPT" ? "550 5.1.1 Nobody\nhere" : undefined) });
  await expect(send()).rejects.toThrow("550");
  expect(server.accepted).toBe(0);
});
