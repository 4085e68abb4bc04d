/** Real Redis servers of every kind that REDIS_URL may name, and of those that are refused or reported. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Redis } from "ioredis";
import { exactWindow } from "../../../services/lib/limits/limiter.ts";
import { RedisLimiter } from "../../../services/lib/limits/limiter-redis.ts";
import { connectRedis, redisServer, redisWorks } from "../../../services/lib/redis.ts";
import { selfMadeCertificate } from "../../support/certificate.ts";
import { longTest } from "../../support/long.ts";
import { programOf } from "../../support/programs.ts";
import { type RedisServerOptions, type Server, startRedis, startSentinel } from "../../support/servers.ts";
import { dataFolder, startService } from "../../support/service-process.ts";

jest.setTimeout(180_000);

const PASSWORD = "p@ss:word/%25 é";
const servers: Server[] = [];
const clients: Redis[] = [];
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "flockmail-redis-wiring-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(async () => {
  for (const client of clients.splice(0)) client.disconnect();
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

async function start(options: Omit<RedisServerOptions, "own"> = {}): Promise<Server & { port: number }> {
  const server = await startRedis({ own: true, ...options });
  servers.push(server);
  return { ...server, port: Number(new URL(server.url).port) };
}

async function opened(url: string, caFile?: string): Promise<Redis> {
  const client = connectRedis(url, caFile);
  client.on("error", () => {});
  clients.push(client);
  await client.connect().catch(() => {});
  return client;
}

/** Undefined if it works. */
const reasonAgainst = (client: Redis): Promise<string | undefined> =>
  redisWorks(client).then(
    () => undefined,
    (error: Error) => error.message,
  );

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo().catch(() => false))) await new Promise((resolve) => setTimeout(resolve, 30));
}

const countsOn = async (client: Redis) => (await new RedisLimiter(client).take(exactWindow("wiring:a", 5, 60), 2)).used;

async function endOfStart(env: NodeJS.ProcessEnv) {
  const data = dataFolder();
  const { child } = await startService({ env: { DATA_DIR: data.path, ...env }, services: ["operator"] });
  const tooLong = setTimeout(() => child.signal("SIGKILL"), 90_000);
  const code = await child.ended;
  clearTimeout(tooLong);
  data.remove();
  return { code, lines: child.output().trim().split("\n") };
}

test("TLS with a private authority works, and is refused without it", async () => {
  const { cert, key } = selfMadeCertificate();
  const [certFile, keyFile] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key);
  const tls = `--tls-cert-file ${certFile} --tls-key-file ${keyFile} --tls-ca-cert-file ${certFile} --tls-auth-clients no`;
  const { port } = await start({ args: (p) => `--port 0 --tls-port ${p} ${tls}`.split(" ") });
  const client = await opened(`rediss://localhost:${port}`, certFile);
  expect(await reasonAgainst(client)).toBeUndefined();
  expect(await countsOn(client)).toBe(2);
  expect(await reasonAgainst(await opened(`rediss://localhost:${port}`))).toMatch(/self[- ]signed/);
});

test("an ACL user works with the rights that limits need and special characters in its password; a wrong one is named", async () => {
  const { url, port } = await start();
  const admin = await opened(url);
  const commands =
    "+@scripting +@hash +@sortedset +set +del +exists +pexpire +pttl +ttl +time +info +ping +select +client";
  await admin.acl("SETUSER", "flock", "on", `>${PASSWORD}`, "~flockmail:*", "-@all", ...commands.split(" "));
  const client = await opened(`redis://flock:${encodeURIComponent(PASSWORD)}@127.0.0.1:${port}/0`);
  expect(await reasonAgainst(client)).toBeUndefined();
  expect(await countsOn(client)).toBe(2);
  expect(await reasonAgainst(await opened(`redis://flock:wrong@127.0.0.1:${port}`))).toContain("WRONGPASS");
  await admin.config("SET", "requirepass", "secret");
  expect(await reasonAgainst(await opened(`redis://127.0.0.1:${port}`))).toContain("NOAUTH");
});

longTest("Sentinel: the group's primary is found, and the next one after a failover", async () => {
  const secret = "s3cret";
  const login = ["--requirepass", secret, "--masterauth", secret];
  const first = await start({ args: () => login });
  const second = await start({ args: () => [...login, "--replicaof", "127.0.0.1", `${first.port}`] });
  const replica = await opened(`redis://:${secret}@127.0.0.1:${second.port}`);
  await until(async () => /master_link_status:up/.test(await replica.info("replication")));
  const sentinel = await startSentinel("birds", { port: first.port, password: secret });
  servers.push(sentinel);
  const { port } = new URL(sentinel.url);
  const watching = await opened(sentinel.url);
  await until(async () => ((await watching.call("SENTINEL", "replicas", "birds")) as unknown[]).length === 1);
  const client = await opened(`redis+sentinel://:${secret}@127.0.0.1:1,127.0.0.1:${port}/birds/0`);
  expect(await reasonAgainst(client)).toBeUndefined();
  const { id } = await redisServer(client);
  await countsOn(client);
  first.child!.signal("SIGKILL");
  await until(async () => (await reasonAgainst(client)) === undefined && (await redisServer(client)).id !== id);
  expect(await countsOn(client)).toBeGreaterThanOrEqual(2);
});

longTest("Valkey is used and shown with its own version", async () => {
  const command = await programOf("trixie", "valkey-server", ["valkey-server", "valkey-tools"]);
  const { url } = await start({ command });
  const client = await opened(url);
  expect(await reasonAgainst(client)).toBeUndefined();
  expect((await redisServer(client)).name).toMatch(/^Valkey \d+\.\d+/);
  expect(await countsOn(client)).toBe(2);
});

test("a replica or a full server answers PING and is reported as unavailable with the reason", async () => {
  const { url, port } = await start();
  const client = await opened(url);
  const admin = await opened(url);
  await admin.config("SET", "maxmemory", "1");
  expect(await admin.ping()).toBe("PONG");
  expect(await reasonAgainst(client)).toContain("OOM");
  await admin.config("SET", "maxmemory", "0");
  expect(await reasonAgainst(client)).toBeUndefined();
  const replica = await start({ args: () => ["--replicaof", "127.0.0.1", `${port}`] });
  expect(await reasonAgainst(await opened(replica.url))).toContain("READONLY");
});

test("a server that may evict counters causes a warning", async () => {
  const { url } = await start({ args: () => ["--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"] });
  expect((await redisServer(await opened(url))).warning).toContain("set it to noeviction");
  const { url: safe } = await start({ args: () => ["--maxmemory", "100mb"] });
  expect((await redisServer(await opened(safe))).warning).toBeUndefined();
});

test("cluster mode is reported as the reason", async () => {
  const { url } = await start({ args: () => ["--cluster-enabled", "yes"] });
  expect(await reasonAgainst(await opened(url))).toContain("Cluster mode");
});

longTest("Cluster mode is refused at start in one line", async () => {
  const { url } = await start({ args: () => ["--cluster-enabled", "yes"] });
  const { code, lines } = await endOfStart({ REDIS_URL: url });
  expect(lines).toEqual([expect.stringMatching(/^Flockmail cannot start: REDIS_URL: Redis \S+ runs in Cluster mode/)]);
  expect(code).toBe(78);
});

longTest("an unreadable authority file is refused at start in one line", async () => {
  const { url } = await start();
  const { code, lines } = await endOfStart({ REDIS_URL: url, REDIS_CA: join(folder, "nobody.pem") });
  expect(lines).toEqual([expect.stringMatching(/^Flockmail cannot start: REDIS_CA: .*nobody\.pem/)]);
  expect(code).toBe(78);
});
