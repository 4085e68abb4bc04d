/** Checks Redis and NATS as reached from this process. */
import type { Redis } from "ioredis";
import type { ServiceBroker } from "moleculer";
import { redis, redisServer, redisWorks } from "../../lib/redis.ts";
import { sizeText } from "../../lib/size-text.ts";
import { natsClientOf } from "../dependencies.ts";
import { type Check, clockFinding, type Finding, findingsOf, latencyFinding } from "./finding.ts";

const ofRedis = findingsOf("Redis");
const ofNats = findingsOf("NATS");

const FULL_SHARE = 0.9;
/** Larger payloads are fetched in chunks of 256 KiB; one chunk and its envelope must fit. */
const LEAST_PAYLOAD_BYTES = 512 * 1024;

const numberOf = (info: string, name: string): number =>
  Number(new RegExp(`^${name}:(\\d+)`, "m").exec(info)?.[1] ?? 0);

/** `info` is the answer to INFO MEMORY. */
export function redisMemoryFinding(info: string): Finding {
  const used = numberOf(info, "used_memory");
  const maxMemory = numberOf(info, "maxmemory");
  if (maxMemory === 0) return ofRedis.ok("memory", `${sizeText(used)}, without a limit`);
  const found = `${sizeText(used)} of ${sizeText(maxMemory)}`;
  if (used < FULL_SHARE * maxMemory) return ofRedis.ok("memory", found);
  return ofRedis.warn(
    "memory",
    found,
    "Raise maxmemory: a full server refuses to count, and companies with an hourly limit wait.",
  );
}

const REDIS_SLOW = "Move Redis closer, or check what keeps it or this process busy: each group of mails needs it.";

async function redisFindings(client: Redis): Promise<Finding[]> {
  const { ok, warn } = ofRedis;
  const latency = await latencyFinding("Redis", "counts limits", () => redisWorks(client), REDIS_SLOW);
  const { name, warning } = await redisServer(client);
  const askedAtMs = Date.now();
  const [seconds, microseconds] = await client.time();
  const theirsMs = Number(seconds) * 1_000 + Number(microseconds) / 1_000;
  const clock = { whose: "Redis's clock", theirsMs, askedAtMs, answeredAtMs: Date.now() };
  return [
    latency,
    ok("version", name),
    warning ? warn("eviction", warning, "Set maxmemory-policy to noeviction.") : ok("eviction", "keeps all counters"),
    redisMemoryFinding(await client.info("memory")),
    // Redis only counts: PostgreSQL's ledger has everything that Redis may lose.
    clockFinding("Redis", "clock", clock),
  ];
}

export function payloadFinding(maxPayloadBytes: number): Finding {
  const found = sizeText(maxPayloadBytes);
  if (maxPayloadBytes >= LEAST_PAYLOAD_BYTES) return ofNats.ok("max_payload", found);
  return ofNats.warn(
    "max_payload",
    found,
    "Set max_payload to 1MB, NATS's default: otherwise pages of results are too large.",
  );
}

const NATS_SLOW =
  "Move the NATS servers closer, or check what keeps them or this process busy: every call between nodes passes through them.";

async function natsFindings(broker: ServiceBroker): Promise<Finding[]> {
  const client = natsClientOf(broker);
  if (!client) throw new Error("not connected");
  const latency = await latencyFinding("NATS", "round trip", () => client.rtt(), NATS_SLOW);
  return [
    latency,
    ofNats.ok("version", client.info?.version ?? "not said"),
    payloadFinding(client.info?.max_payload ?? 0),
  ];
}

export function redisChecks(): Check[] {
  const client = redis();
  const advice = "Start Redis and check REDIS_URL: until then companies with an hourly limit wait.";
  const work = async () =>
    client ? redisFindings(client) : [ofRedis.ok("used", "no: limits are counted in this process (REDIS_URL)")];
  return [{ area: "Redis", check: "counts limits", advice, work }];
}

export function natsChecks(broker: ServiceBroker): Check[] {
  const advice = "Start NATS and check TRANSPORTER: until then processes cannot reach each other.";
  const work = async () =>
    broker.transit ? natsFindings(broker) : [ofNats.ok("used", "no: all services are in one process (TRANSPORTER)")];
  return [{ area: "NATS", check: "round trip", advice, work }];
}
