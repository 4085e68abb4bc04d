/** TRANSPORTER, NATS_CA and NATS_CREDENTIALS_FILE with real NATS servers that require them. */
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ServiceBroker } from "moleculer";
import { nkeys } from "nats";
import { natsLink } from "../../../mixins/nats-link.middleware.ts";
import { NatsTransporter } from "../../../mixins/nats-transporter.ts";
import { readConfig } from "../../../services/lib/config.ts";
import { selfMadeCertificate } from "../../support/certificate.ts";
import { startNatsWith } from "../../support/nats-cluster.ts";

type Server = Awaited<ReturnType<typeof startNatsWith>>;

const folder = mkdtempSync(join(tmpdir(), "flockmail-wiring-"));
const fileWith = (name: string, content: string) => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let servers: Server[] = [];
const start = async (lines: string) => {
  const server = await startNatsWith(lines);
  servers.push(server);
  return server;
};
afterEach(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  servers = [];
});

type Env = { TRANSPORTER: string; NATS_CA?: string; NATS_CREDENTIALS_FILE?: string };

/** Joins two nodes like the service's, and calls one from the other. */
async function askOverNats(env: Env): Promise<unknown> {
  const settings = readConfig(env, { console: true });
  const nodes = ["asks", "answers"].map(
    (nodeID) =>
      new ServiceBroker({
        nodeID,
        logger: false,
        skipProcessEventRegistration: true,
        transporter: new NatsTransporter(settings) as never,
        middlewares: [natsLink(settings)],
      }),
  );
  const [asks, answers] = nodes as [ServiceBroker, ServiceBroker];
  answers.createService({ name: "other", actions: { where: (ctx) => ctx.broker.nodeID } });
  try {
    await Promise.all(nodes.map((node) => node.start()));
    await asks.waitForServices("other", 10_000, 20);
    return await asks.call("other.where");
  } finally {
    await Promise.all(nodes.map((node) => node.stop()));
  }
}

const certificate = selfMadeCertificate();
const CA = fileWith("ca.pem", certificate.cert);
const TLS = `tls { cert_file: "${CA}", key_file: "${fileWith("key.pem", certificate.key)}" }`;

const USER = 'authorization { user: "o\'p", password: "p@ss:w/rd,100%" }';
const USER_ENCODED = "o'p:p%40ss%3Aw%2Frd%2C100%25";

const base64url = (text: string | Uint8Array) => Buffer.from(text).toString("base64url");

/** Output of `nsc`: an operator's server, one account on it, and credentials of one of its users. */
function operatorMode(): { lines: string; credentials: string } {
  const [operator, account, user] = [nkeys.createOperator(), nkeys.createAccount(), nkeys.createUser()];
  const claim = (by: typeof operator, of: typeof operator, type: string, more: object = {}) => {
    const payload = {
      iat: Math.floor(Date.now() / 1_000),
      iss: by.getPublicKey(),
      sub: of.getPublicKey(),
      name: type,
      nats: { type, version: 2, ...more },
    };
    const jti = createHash("sha256").update(JSON.stringify(payload)).digest("hex");
    const signed = `${base64url(JSON.stringify({ typ: "JWT", alg: "ed25519-nkey" }))}.${base64url(JSON.stringify({ jti, ...payload }))}`;
    return `${signed}.${base64url(by.sign(Buffer.from(signed)))}`;
  };
  const limits = { subs: -1, data: -1, payload: -1 };
  const all = { imports: -1, exports: -1, wildcards: true, conn: -1, leaf: -1 };
  const accountJwt = claim(operator, account, "account", { limits: { ...limits, ...all } });
  const lines = `operator: ${claim(operator, operator, "operator")}\nresolver: MEMORY\nresolver_preload: { ${account.getPublicKey()}: ${accountJwt} }`;
  const part = (title: string, content: string) => `-----BEGIN ${title}-----\n${content}\n------END ${title}------\n\n`;
  const seed = Buffer.from(user.getSeed()).toString();
  const credentials = part("NATS USER JWT", claim(account, user, "user", limits)) + part("USER NKEY SEED", seed);
  return { lines, credentials };
}

describe("nodes join over", () => {
  test("a server with a user, and a password with characters special in URLs", async () => {
    const { port } = await start(USER);
    expect(await askOverNats({ TRANSPORTER: `nats://${USER_ENCODED}@127.0.0.1:${port}` })).toBe("answers");
  });

  test("a server with a token", async () => {
    const { port } = await start('authorization { token: "t/0k:en" }');
    expect(await askOverNats({ TRANSPORTER: `nats://t%2F0k%3Aen@127.0.0.1:${port}` })).toBe("answers");
  });

  test("a server that requires an account's credentials", async () => {
    const { lines, credentials } = operatorMode();
    const { port } = await start(lines);
    const NATS_CREDENTIALS_FILE = fileWith("user.creds", credentials);
    expect(await askOverNats({ TRANSPORTER: `nats://127.0.0.1:${port}`, NATS_CREDENTIALS_FILE })).toBe("answers");
  });

  test.each(["localhost", "127.0.0.1"])("TLS with a private authority, to %s", async (host) => {
    const { port } = await start(`${TLS}\n${USER}`);
    expect(await askOverNats({ TRANSPORTER: `tls://${USER_ENCODED}@${host}:${port}`, NATS_CA: CA })).toBe("answers");
  });

  test("several servers, the first of which is missing", async () => {
    const { port } = await start("");
    expect(await askOverNats({ TRANSPORTER: `nats://127.0.0.1:1, nats://127.0.0.1:${port}` })).toBe("answers");
  });
});

describe("a start is refused in one line that names the servers but no secret:", () => {
  const refusal = async (env: Env) =>
    askOverNats(env).then(
      () => "not refused",
      ({ message }: Error) => message,
    );
  const at = (port: number) => `cannot use NATS at 127.0.0.1:${port} (TRANSPORTER): `;

  test("a wrong password", async () => {
    const { port } = await start(USER);
    expect(await refusal({ TRANSPORTER: `nats://o'p:wrong@127.0.0.1:${port}` })).toBe(
      `${at(port)}it refuses the user, password or token`,
    );
  });

  test("missing credentials", async () => {
    const { port } = await start(USER);
    expect(await refusal({ TRANSPORTER: `nats://127.0.0.1:${port}` })).toContain(at(port));
  });

  test("a certificate of an unknown authority", async () => {
    const { port } = await start(TLS);
    expect(await refusal({ TRANSPORTER: `tls://127.0.0.1:${port}` })).toMatch(/self-signed certificate/);
  });

  test("a certificate for another name", async () => {
    const other = selfMadeCertificate({ names: ["other.example"], address: false });
    const NATS_CA = fileWith("other.pem", other.cert);
    const { port } = await start(
      `tls { cert_file: "${NATS_CA}", key_file: "${fileWith("other-key.pem", other.key)}" }`,
    );
    expect(await refusal({ TRANSPORTER: `tls://127.0.0.1:${port}`, NATS_CA })).toMatch(/127\.0\.0\.1.*altnames/i);
  });

  test("tls:// to a server without TLS", async () => {
    const { port } = await start("");
    expect(await refusal({ TRANSPORTER: `tls://127.0.0.1:${port}` })).toBe(`${at(port)}it offers no TLS`);
  });

  test.each([
    ["NATS_CA", "no-such.pem"],
    ["NATS_CREDENTIALS_FILE", "no-such.creds"],
  ])("a missing %s", async (name, file) => {
    expect(await refusal({ TRANSPORTER: "nats://127.0.0.1:1", [name]: join(folder, file) })).toBe(
      `cannot read ${join(folder, file)} (${name}): ENOENT`,
    );
  });
});
