/** Conclusions of `ops doctor` from given facts. Real servers: test/integration/operator/commands.test.ts. */

import { vitals } from "../../../services/lib/processes/vitals.ts";
import type { ServerFacts } from "../../../services/operator/database-state.ts";
import {
  campaignNumberFinding,
  connectionFindings,
  longWorkFindings,
  migrationFinding,
  replicationFinding,
  serverFindings,
  storageFindings,
  tableFindings,
} from "../../../services/operator/doctor/database-checks.ts";
import { clockFinding, type Finding, findingsOf, runChecks } from "../../../services/operator/doctor/finding.ts";
import { diskFinding, nameServerFinding } from "../../../services/operator/doctor/machine-checks.ts";
import { nodeFindings } from "../../../services/operator/doctor/node-checks.ts";
import { exitCodeOf, reportOf } from "../../../services/operator/doctor/report.ts";
import { payloadFinding, redisMemoryFinding } from "../../../services/operator/doctor/server-checks.ts";
import {
  addressFindings,
  certificateFinding,
  sealedFindings,
  secretFinding,
} from "../../../services/operator/doctor/settings-checks.ts";
import { examineWithoutService } from "../../../services/operator/doctor/without-service.ts";
import type { Node } from "../../../services/operator/nodes.ts";

const states = (findings: readonly Finding[]) => Object.fromEntries(findings.map(({ check, state }) => [check, state]));
const GIB = 1024 ** 3;

const FACTS: ServerFacts = {
  version: "17.2",
  version_number: 170_002,
  tls: true,
  address: "10.0.0.5",
  role: { name: "flockmail", superuser: false, ownsTables: false, mayCreate: false },
  max_connections: 100,
  reserved_connections: 3,
  connections: 20,
  autovacuum: true,
  fsync: true,
  full_page_writes: true,
  synchronous_commit: "on",
  oldest_transaction_age: 1e6,
};
const SUPERUSER = { name: "postgres", superuser: true, ownsTables: true, mayCreate: true };
const server = (facts: Partial<ServerFacts>, isEmbedded = false) =>
  states(serverFindings({ ...FACTS, ...facts }, { isEmbedded }));

describe("PostgreSQL", () => {
  test("a safe server has no findings", () => {
    expect(Object.values(server({}))).toEqual(Object.values(server({})).map(() => "ok"));
  });

  test.each([
    [{ version_number: 140_010 }, "version", "fail"],
    [{ version_number: 190_000 }, "version", "warn"],
    [{ tls: false, address: "203.0.113.5" }, "TLS", "ok"],
    [{ tls: false, address: "8.8.8.8" }, "TLS", "warn"],
    [{ tls: false, address: "127.0.0.1" }, "TLS", "ok"],
    [{ tls: false, address: null }, "TLS", "ok"],
    [{ role: SUPERUSER }, "role", "warn"],
    [{ fsync: false }, "durability", "fail"],
    [{ synchronous_commit: "off" }, "durability", "fail"],
    [{ synchronous_commit: "local" }, "durability", "ok"],
    [{ autovacuum: false }, "autovacuum", "fail"],
    [{ oldest_transaction_age: 1.2e9 }, "age of rows", "warn"],
    [{ oldest_transaction_age: 1.9e9 }, "age of rows", "fail"],
  ] as [Partial<ServerFacts>, string, string][])("%o: %s is %s", (facts, check, state) => {
    expect(server(facts)).toMatchObject({ [check]: state });
  });

  test("the embedded database may use a superuser", () => {
    expect(server({ role: SUPERUSER }, true)).toMatchObject({ role: "ok" });
  });

  test("connections: in use, and the total of all pools", () => {
    expect(states(connectionFindings({ ...FACTS, connections: 90 }, [20]))).toEqual({
      "connections in use": "warn",
      "connections at most": "ok",
    });
    const [, planned] = connectionFindings(FACTS, [20, 20, 20, 20, 20]);
    expect(planned).toMatchObject({ state: "warn", found: "105 of 97, by the DATABASE_POOL of 5 nodes" });
  });

  test("campaign numbers cause a warning when half are used", () => {
    expect([null, 0.0004, 0.5, 0.51].map((used) => campaignNumberFinding(used).state)).toEqual([
      "ok",
      "ok",
      "ok",
      "warn",
    ]);
    expect(campaignNumberFinding(0.0004).found).toContain("0.04 %");
  });

  test("migrations: missing ones fail, those of a newer version are reported", () => {
    expect(migrationFinding(["1", "2"], ["1", "2"])).toMatchObject({ state: "ok" });
    expect(migrationFinding(["1", "2"], ["1"])).toMatchObject({ state: "fail", found: "1 not applied, first 2" });
    expect(migrationFinding(["1"], ["1", "2"])).toMatchObject({ state: "warn" });
  });

  test("leftovers: transactions, slots, dead rows, statistics, indexes", () => {
    const work = {
      transactions: 0,
      oldest_seconds: 0,
      oldest_application: null,
      prepared: 0,
      idle_slots: 0,
      kept_bytes: 0,
    };
    expect(states(longWorkFindings(work))).toEqual({
      "long transactions": "ok",
      "prepared transactions": "ok",
      "replication slots": "ok",
    });
    const bad = {
      transactions: 2,
      oldest_seconds: 900,
      oldest_application: "psql",
      prepared: 1,
      idle_slots: 1,
      kept_bytes: 5 * GIB,
    };
    expect(longWorkFindings(bad).map(({ state }) => state)).toEqual(["warn", "warn", "warn"]);
    expect(longWorkFindings(bad)[0]).toMatchObject({ found: "2, the oldest for 15 minutes (psql)" });
    const tables = [
      { name: "campaigns", live: 1e6, dead: 9e5, was_analyzed: true },
      { name: "subscribers", live: 1e6, dead: 1e5, was_analyzed: false },
    ];
    expect(tableFindings(tables)).toMatchObject([
      { check: "dead rows", state: "warn", found: "more than half of campaigns" },
      { check: "statistics", state: "warn", found: "subscribers never analysed" },
    ]);
    expect(states(tableFindings([]))).toEqual({ "dead rows": "ok", statistics: "ok" });
    expect(storageFindings({ bytes: 3 * GIB, broken_indexes: ["one"] })).toMatchObject([
      { state: "ok", found: "3.0 GB" },
      { state: "warn", found: "broken: one" },
    ]);
    expect(replicationFinding("asynchronous").state).toBe("warn");
    expect(replicationFinding(undefined).state).toBe("ok");
  });
});

test("a full Redis, and NATS with a small max_payload, are reported", () => {
  expect(redisMemoryFinding("used_memory:950\r\nmaxmemory:1000\r\n")).toMatchObject({ state: "warn" });
  expect(redisMemoryFinding("used_memory:950\r\nmaxmemory:0\r\n")).toMatchObject({ state: "ok" });
  expect([65_536, 1_048_576].map((bytes) => payloadFinding(bytes).state)).toEqual(["warn", "ok"]);
});

describe("nodes", () => {
  const NOW = 1_800_000_000_000;
  const ALL =
    "accounts subscribers campaigns renderer smtp-sender tracking webhooks bounces console operator gateway".split(" ");
  const node = (id: string, of: Partial<ReturnType<typeof vitals>> = {}, memory = GIB / 4): Node => ({
    id,
    services: ALL,
    askedAtMs: NOW,
    answeredAtMs: NOW + 10,
    report: {
      ready: true,
      latency_ms: { database: 1, redis: 1, nats: 1 },
      state: "started",
      database: "ok",
      redis: "ok",
      nats: "ok",
      services: ALL,
      pid: 1,
      uptime_seconds: 5,
      memory_bytes: memory,
      vitals: {
        ...vitals(),
        version: "0.2.0",
        node_version: "24.1.0",
        event_loop_lag_ms: 1,
        memory_limit_bytes: GIB,
        open_files: 30,
        max_open_files: 65_536,
        clock_ms: NOW + 5,
        ...of,
      },
    },
  });
  const judged = (...nodes: Node[]) => states(nodeFindings(nodes, undefined));

  test("are one line if they have no problem, however many there are", () => {
    const one = judged(node("a"));
    expect(new Set(Object.values(one))).toEqual(new Set(["ok"]));
    expect(nodeFindings([node("a"), node("b"), node("c")], undefined)).toHaveLength(Object.keys(one).length);
  });

  test.each([
    ["version", [node("a"), node("b", { version: "0.3.0" })], "warn"],
    ["Node.js", [node("a", { node_version: "20.19.0" })], "warn"],
    ["Node.js", [node("a", { node_version: "25.1.0" })], "warn"],
    ["event loop", [node("a", { event_loop_lag_ms: 400 })], "warn"],
    ["memory", [node("a", {}, 0.9 * GIB)], "warn"],
    ["memory", [node("a", {}, 0.97 * GIB)], "fail"],
    ["open files", [node("a", { open_files: 60_000 })], "warn"],
    ["open files", [node("a", { max_open_files: 256 })], "warn"],
    ["clocks", [node("a", { clock_ms: NOW + 5_000 })], "warn"],
    ["clocks", [node("a", { clock_ms: NOW - 60_000 })], "fail"],
    ["services", [{ ...node("a"), services: ["gateway"] }], "fail"],
    ["ready", [{ ...node("a"), report: undefined }, node("b")], "fail"],
  ] as [string, Node[], string][])("%s", (check, nodes, state) => {
    expect(judged(...nodes)).toMatchObject({ [check]: state });
  });

  test("a command of other files than the running service's is reported", () => {
    const found = nodeFindings([node("a")], "9.9.9").find(({ check }) => check === "version of the command");
    expect(found).toMatchObject({ state: "warn", found: expect.stringContaining("9.9.9") });
  });
});

describe("settings", () => {
  const PUBLIC = {
    BASE_URL: "https://mail.lantern.example",
    REGISTRATION: "invite",
    TRUST_PROXY: 1,
    SYSTEM_SMTP_URL: "smtp://user:geheim@relay.example",
    ALLOW_PRIVATE_NETWORKS: false,
  } as const;

  test("are all ok for a service that is well set up, and no secret is shown", () => {
    const findings = addressFindings(PUBLIC);
    expect(findings.filter(({ state }) => state !== "ok")).toEqual([]);
    expect(JSON.stringify(findings)).not.toContain("geheim");
  });

  test.each([
    [{ BASE_URL: "http://localhost:3000" }, "BASE_URL"],
    [{ BASE_URL: "http://mail.lantern.example" }, "BASE_URL"],
    [{ REGISTRATION: "open" }, "REGISTRATION"],
    [{ TRUST_PROXY: 0 }, "TRUST_PROXY"],
    [{ SYSTEM_SMTP_URL: undefined }, "SYSTEM_SMTP_URL"],
    [{ ALLOW_PRIVATE_NETWORKS: true }, "ALLOW_PRIVATE_NETWORKS"],
  ] as const)("%o is reported", (changed, check) => {
    expect(states(addressFindings({ ...PUBLIC, ...changed }))).toMatchObject({ [check]: "warn" });
  });

  test("a weak key is reported by its length or variety, and never shown", () => {
    const weak = ["hunter2hunter2hunter2", "a".repeat(64)].map((SECRET_KEY) => secretFinding({ SECRET_KEY }));
    expect(weak.map(({ state }) => state)).toEqual(["warn", "warn"]);
    expect(JSON.stringify(weak)).not.toMatch(/hunter|aaa/);
    expect(secretFinding({ SECRET_KEY: "0123456789abcdef".repeat(4) }).state).toBe("ok");
    expect(secretFinding({ SECRET_KEY: undefined }).state).toBe("ok");
  });

  test("secrets that no key opens are a failure, an old key is reported for removal", () => {
    expect(states(sealedFindings({ SECRET_KEY_OLD: "x" }, 3))).toEqual({
      "stored secrets": "fail",
      SECRET_KEY_OLD: "warn",
    });
    expect(states(sealedFindings({ SECRET_KEY_OLD: undefined }, 0))).toEqual({
      "stored secrets": "ok",
      SECRET_KEY_OLD: "ok",
    });
  });

  test("include a certificate that expires soon or has expired", () => {
    const days = (n: number) => certificateFinding(n * 86_400_000, 0).state;
    expect([days(60), days(5), days(-1)]).toEqual(["ok", "warn", "fail"]);
  });
});

test("name servers: all silent fails, a slow or silent one among others is reported", () => {
  const of = (...ms: (number | null)[]) =>
    nameServerFinding(ms.map((one, n) => ({ server: `192.0.2.${n}`, ms: one }))).state;
  expect([of(3, 4), of(3, null), of(900), of(null, null), of()]).toEqual(["ok", "warn", "warn", "fail", "fail"]);
});

test("disk: a tenth counts as low below a gigabyte, and almost nothing fails", () => {
  const of = (free: number, size: number) => diskFinding("uploads", "/tmp", { free, size }).state;
  expect([of(5 * GIB, 100 * GIB), of(GIB / 2, 100 * GIB), of(GIB / 2, GIB), of(1_000_000, GIB)]).toEqual([
    "ok",
    "warn",
    "ok",
    "fail",
  ]);
});

test("a clock's round trip is not counted as an error", () => {
  const of = (theirsMs: number) =>
    clockFinding("Redis", "clock", { whose: "Redis's clock", theirsMs, askedAtMs: 10_000, answeredAtMs: 14_000 });
  expect(of(12_000).found).toBe("agrees with this process's");
  expect(of(16_000)).toMatchObject({ state: "warn", found: "2.0 s ahead of this process's" });
  expect(of(9_500).state).toBe("ok");
  expect(of(-40_000).state).toBe("fail");
});

test("a failing check is one line without a password, and hides no other", async () => {
  const { ok } = findingsOf("machine");
  const findings = await runChecks([
    {
      area: "PostgreSQL",
      check: "answers",
      advice: "Start it.",
      work: async () => {
        throw new Error("connect to postgres://ann:geheim@db failed");
      },
    },
    { area: "machine", check: "disk", advice: "", work: async () => [ok("disk", "fine")] },
  ]);
  expect(findings).toMatchObject([
    { area: "PostgreSQL", state: "fail", advice: "Start it." },
    { check: "disk", state: "ok" },
  ]);
  expect(JSON.stringify(findings)).not.toContain("geheim");
});

test("an invalid configuration is shown line by line", async () => {
  const findings = await examineWithoutService(new Error("Nobody is there."), { PORT: "many", HEALTH_PORT: "few" });
  const failed = findings.filter(({ state }) => state === "fail").map(({ found }) => found);
  expect(failed).toEqual([
    "Nobody is there.",
    expect.stringMatching(/^PORT must be/),
    expect.stringMatching(/^HEALTH_PORT must be/),
  ]);
});

test("the report lists problems first and with advice, the rest only with --all; its exit code is that of the worst", () => {
  const { ok, warn, fail } = findingsOf("Redis");
  expect(
    [[], [ok("a", "")], [ok("a", ""), warn("b", "", "Do.")], [warn("b", "", "Do."), fail("c", "", "Do.")]].map(
      exitCodeOf,
    ),
  ).toEqual([0, 0, 1, 2]);
  const findings = [ok("a", "fine"), warn("longer", "so-so\u001b[2J", "Do it."), fail("b", "bad", "Now.")];
  const problems = "fail  Redis  b       bad\n      → Now.\nwarn  Redis  longer  so-so [2J\n      → Do it.\n";
  expect(reportOf(findings, false)).toBe(`${problems}\n1 fail, 1 warn, 1 ok (--all lists them)`);
  expect(reportOf(findings, true)).toBe(`${problems}ok    Redis  a       fine\n\n1 fail, 1 warn, 1 ok`);
  expect(reportOf([ok("a", "fine")], false)).toBe("0 fail, 0 warn, 1 ok (--all lists them)");
});
