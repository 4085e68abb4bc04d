/**
 * The certificate must be the configured host's, regardless of earlier connections of another tenant's configuration.
 */
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { openSession } from "../../../services/smtp-sender/smtp/session.ts";
import { selfMadeCertificate } from "../../support/certificate.ts";
import { type SmtpServer, startSmtpServer } from "../../support/smtp-server.ts";

// The bundled ones: "default" would hold what an earlier test file of this process trusted.
const trusted = getCACertificates("bundled");
const servers: SmtpServer[] = [];

afterEach(async () => {
  setDefaultCACertificates(trusted);
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

/** A server whose certificate comes from an authority that is trusted here. */
async function server(options: Parameters<typeof selfMadeCertificate>[0]) {
  const certificate = selfMadeCertificate(options);
  setDefaultCACertificates([...trusted, certificate.cert]);
  const started = await startSmtpServer({ tls: "starttls", certificate });
  servers.push(started);
  return started;
}

async function open(host: string, { port }: SmtpServer): Promise<string> {
  const endpoint = { host, port, useTls: true, username: "", password: "" };
  try {
    const { socket } = await openSession(endpoint, { allowPrivate: true });
    socket.destroy();
    return "open";
  } catch (error) {
    const { stage, mayRecover } = error as { stage: string; mayRecover: string };
    return mayRecover === "no" ? `${stage}, for good` : stage;
  }
}

test("the name on the certificate is used of two names with one address, in any order", async () => {
  const named = await server({ names: ["localhost"], address: false });
  for (let round = 1; round <= 2; round++) {
    expect(await open("localhost", named)).toBe("open");
    expect(await open("127.0.0.1", named)).toBe("tls, for good");
  }
  const addressed = await server({ names: ["other.example"] });
  for (let round = 1; round <= 2; round++) {
    expect(await open("127.0.0.1", addressed)).toBe("open");
    expect(await open("localhost", addressed)).toBe("tls, for good");
  }
});

test("an expired certificate is refused, even if its issuer is trusted", async () => {
  expect(await open("localhost", await server({ expired: true }))).toBe("tls, for good");
});
