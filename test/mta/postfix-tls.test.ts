/** Postfix with TLS by our own authority, STARTTLS and implicit, and logins by every mechanism. */
import { selfMadeCertificate } from "../support/certificate.ts";
import { linesOf, type MailServer } from "../support/mta/daemon.ts";
import { ALL_ARRIVED, tally } from "../support/mta/deliveries.ts";
import { type PostfixOptions, startPostfix } from "../support/mta/postfix.ts";
import { LOGIN, type Mechanism, type Sasl, startSasl } from "../support/mta/sasl.ts";
import { addresses, type Endpoint, type MailService, openService, people } from "../support/mta/service.ts";
import { trusted } from "../support/mta/trusted.ts";

jest.setTimeout(120_000);

const ca = trusted(selfMadeCertificate());
const stranger = trusted(selfMadeCertificate());

let service: MailService;
let server: MailServer;
let sasl: Sasl | undefined;

beforeAll(async () => {
  service = await openService({ NODE_EXTRA_CA_CERTS: ca.path });
});
afterAll(async () => {
  await service?.stop();
  ca.remove();
  stranger.remove();
});
afterEach(async () => {
  await server?.stop();
  await sasl?.stop();
  sasl = undefined;
});

const start = async (main: Record<string, string>, options: PostfixOptions = {}) => {
  server = await startPostfix({ ...options, main: { smtpd_tls_loglevel: "1", ...main } });
  return server;
};

async function delivered(endpoint: Endpoint, n = 50) {
  const to = people(n);
  const id = await service.send(endpoint, to);
  const campaign = await service.finished(id, 30_000);
  return { campaign, ...tally(await service.settled(server.deliveries), addresses(to)) };
}

const everybody = (n: number) => ({
  ...ALL_ARRIVED,
  arrived: n,
  campaign: { status: "completed", sent_count: n, failed_count: 0, error: null },
});

interface Validation {
  valid: boolean;
  stage: string;
  message: string;
}
const validate = (endpoint: Endpoint) => {
  const login = { host: "localhost", username: "", password: "", use_tls: false, ...endpoint };
  return service.api<Validation>("POST", "/api/emails/smtp/validate/", login);
};

test("everybody gets one mail over TLS if STARTTLS is required", async () => {
  const { port, log } = await start({ smtpd_tls_security_level: "encrypt", smtpd_tls_chain_files: ca.chain });
  expect(await validate({ port, use_tls: true })).toMatchObject({ valid: true, stage: "ok" });
  expect(await delivered({ port, use_tls: true })).toMatchObject(everybody(50));
  expect(linesOf(log(), /TLS connection established/).length).toBeGreaterThan(0);
});

test("`validate` reports that STARTTLS is required and not used, as MAIL would be refused (530)", async () => {
  const { port } = await start({ smtpd_tls_security_level: "encrypt", smtpd_tls_chain_files: ca.chain });
  const found = await validate({ port, use_tls: false });
  expect(found).toMatchObject({ valid: false });
  expect(found.message).toMatch(/STARTTLS/);
});

test("`tls_mode: implicit` works on any port", async () => {
  const { port } = await start({ smtpd_tls_chain_files: ca.chain }, { wrapper: true });
  expect(await delivered({ port, use_tls: true, tls_mode: "implicit" })).toMatchObject(everybody(50));
});

test("an untrusted authority stops all sending, and the reason names NODE_EXTRA_CA_CERTS", async () => {
  const { port } = await start({ smtpd_tls_security_level: "encrypt", smtpd_tls_chain_files: stranger.chain });
  const { campaign, arrived } = await delivered({ port, use_tls: true }, 5);
  expect({ arrived, status: campaign.status }).toEqual({ arrived: 0, status: "failed" });
  expect(campaign.error).toMatch(/NODE_EXTRA_CA_CERTS/);
});

test.each<Mechanism>(["PLAIN", "LOGIN", "CRAM-MD5"])("a login by %s over STARTTLS", async (mechanism) => {
  sasl = await startSasl([mechanism]);
  const tls = { smtpd_tls_security_level: "encrypt", smtpd_tls_chain_files: ca.chain };
  const { port, log } = await start({ ...tls, ...sasl.main });
  expect(await delivered({ port, use_tls: true, ...LOGIN })).toMatchObject(everybody(50));
  expect(linesOf(log(), new RegExp(`sasl_method=${mechanism}, sasl_username=ann`)).length).toBe(50);
});

test("a wrong password stops all sending, the reason is shown, and logins are not repeated at once", async () => {
  sasl = await startSasl(["PLAIN", "LOGIN"]);
  const { port, log } = await start(sasl.main);
  const wrong = { port, ...LOGIN, password: "wrong" };
  expect(await validate(wrong)).toMatchObject({ valid: false, stage: "auth" });
  const { campaign, arrived } = await delivered(wrong, 20);
  expect({ arrived, status: campaign.status }).toEqual({ arrived: 0, status: "failed" });
  expect(campaign.error).toMatch(/535/);
  expect(linesOf(log(), /authentication failed/).length).toBeLessThanOrEqual(12);
});

test("an unreachable server is shown at once on campaign and configuration, with the reason", async () => {
  server = await startPostfix();
  const { port } = server;
  await server.stop();
  const smtpConfigId = await service.configure({ port });
  const id = await service.sendBy(smtpConfigId, people(3));
  const seen = await service.until(
    () => service.campaign(id),
    ({ error }) => error !== null,
    10_000,
  );
  expect(seen).toMatchObject({ status: "sending" });
  expect(seen.error).toMatch(/ECONNREFUSED|ECONNRESET/);
  const config = await service.api<{ last_error: string | null; working: boolean }>(
    "GET",
    `/api/emails/smtp-configs/${smtpConfigId}/`,
  );
  expect(config.last_error).toMatch(/ECONNREFUSED|ECONNRESET/);
  expect(config.working).toBe(false);
});
