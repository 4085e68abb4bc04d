/** Checks whether PostgreSQL keeps data safe and how long its capacity will last. */
import { askDatabase } from "../../../models/database/db.ts";
import { type Replication, readReplication } from "../../../models/database/history.ts";
import { knownMigrations } from "../../../models/database/migrate.ts";
import type { Config } from "../../lib/config.ts";
import { sizeText } from "../../lib/size-text.ts";
import { isPublicAddress } from "../../lib/ssrf/address-range.ts";
import { isLoopbackOnly } from "../../lib/ssrf/local-host.ts";
import {
  appliedMigrations,
  campaignNumbersUsed,
  databaseClock,
  isHitPartAhead,
  isPartAhead,
  type LongWork,
  largeTables,
  longWork,
  type ServerFacts,
  type Storage,
  serverFacts,
  storage,
  type TableState,
} from "../database-state.ts";
import { type Check, clockFinding, type Finding, findingsOf, latencyFinding } from "./finding.ts";

const AREA = "PostgreSQL";
const { ok, warn, fail } = findingsOf(AREA);

const OLDEST_MAJOR = 15;
const NEWEST_TESTED_MAJOR = 18;
const FULL_SHARE = 0.85;
/** Warning level of the transaction id age; PostgreSQL refuses writes at two billion. */
const AGE_WARN = 1_000_000_000;
const AGE_FAIL = 1_800_000_000;
const MANY_DEAD = 100_000;
const DEAD_SHARE = 0.5;
const LARGE_KEPT_BYTES = 1024 ** 3;

function versionFinding({ version, version_number }: ServerFacts): Finding {
  const major = Math.floor(version_number / 10_000);
  if (major < OLDEST_MAJOR) return fail("version", version, `Upgrade to PostgreSQL ${OLDEST_MAJOR} or newer.`);
  if (major <= NEWEST_TESTED_MAJOR) return ok("version", version);
  return warn(
    "version",
    version,
    `Flockmail was tested with ${OLDEST_MAJOR} to ${NEWEST_TESTED_MAJOR}: check for a newer Flockmail.`,
  );
}

/** The server's own address decides, because a host name may resolve to anything. */
function tlsFinding({ tls, address }: ServerFacts): Finding {
  if (tls) return ok("TLS", "the connection is encrypted");
  if (tls === null) return ok("TLS", "not visible to this role");
  if (address === null || isLoopbackOnly(address)) return ok("TLS", "none, and the database is on this machine");
  if (!isPublicAddress(address)) return ok("TLS", "none, and the database is on a private network");
  return warn(
    "TLS",
    "none, and the database has a public address",
    "Add sslmode=verify-full to DATABASE_URL: addresses and mails travel in plain text.",
  );
}

function durabilityFinding({ fsync, full_page_writes, synchronous_commit }: ServerFacts): Finding {
  if (!fsync || !full_page_writes) {
    const name = fsync ? "full_page_writes" : "fsync";
    return fail(
      "durability",
      `${name} is off`,
      `Set ${name} to on: a power failure may destroy the database, including the record of who got which mail.`,
    );
  }
  if (synchronous_commit === "off") {
    return fail(
      "durability",
      "synchronous_commit is off",
      "Set it to on: otherwise mails sent just before a crash would be sent again.",
    );
  }
  return ok("durability", `fsync is on, synchronous_commit is ${synchronous_commit}`);
}

/** `poolSizes` is DATABASE_POOL of each node that reports it; each node has one more connection, for `/ready`. */
export function connectionFindings(facts: ServerFacts, poolSizes: readonly number[]): Finding[] {
  const { connections, max_connections, reserved_connections } = facts;
  const room = max_connections - reserved_connections;
  const budget = poolSizes.reduce((sum, size) => sum + size + 1, 0);
  const used = `${connections} of ${room} in use`;
  const planned = `${budget} of ${room}, by the DATABASE_POOL of ${poolSizes.length === 1 ? "1 node" : `${poolSizes.length} nodes`}`;
  return [
    connections > FULL_SHARE * room
      ? warn(
          "connections in use",
          used,
          "Raise max_connections, lower DATABASE_POOL or use pgbouncer: without a free connection requests wait and fail.",
        )
      : ok("connections in use", used),
    budget > room
      ? warn(
          "connections at most",
          planned,
          "Raise max_connections or lower DATABASE_POOL, unless a pooler in front has connections of its own.",
        )
      : ok("connections at most", planned),
  ];
}

function roleFinding({ role: { superuser, ownsTables } }: ServerFacts, isEmbedded: boolean): Finding {
  if (!superuser)
    return ok("role", ownsTables ? "no superuser, may change the tables" : "no superuser, owns no tables");
  if (isEmbedded) return ok("role", "a superuser of the embedded database");
  const advice = "Connect as a role that is not a superuser, so that a leaked DATABASE_URL exposes only this database.";
  return warn("role", "a superuser", advice);
}

export function serverFindings(facts: ServerFacts, { isEmbedded }: { isEmbedded: boolean }): Finding[] {
  const age = `${Math.round(facts.oldest_transaction_age / 1e6)} of 2,000 million transactions`;
  const freeze =
    "Find what keeps vacuum from freezing rows (long transactions, replication slots, autovacuum off), and run vacuumdb --freeze.";
  return [
    versionFinding(facts),
    tlsFinding(facts),
    roleFinding(facts, isEmbedded),
    durabilityFinding(facts),
    facts.autovacuum
      ? ok("autovacuum", "on")
      : fail(
          "autovacuum",
          "off",
          "Set autovacuum and track_counts to on: otherwise tables grow without limit and queries are planned badly.",
        ),
    facts.oldest_transaction_age >= AGE_FAIL
      ? fail("age of rows", age, freeze)
      : facts.oldest_transaction_age >= AGE_WARN
        ? warn("age of rows", age, freeze)
        : ok("age of rows", age),
  ];
}

export function replicationFinding(replication: Replication | undefined): Finding {
  if (replication !== "asynchronous") return ok("replication", replication ?? "not visible to this role");
  return warn(
    "replication",
    replication,
    'A failover may lose the last moments: set synchronous_standby_names, or accept it (docs/kubernetes.md, "Failover of PostgreSQL").',
  );
}

export function longWorkFindings(work: LongWork): Finding[] {
  const minutes = Math.round(work.oldest_seconds / 60);
  const from = work.oldest_application ? ` (${work.oldest_application})` : "";
  return [
    work.transactions > 0
      ? warn(
          "long transactions",
          `${work.transactions}, the oldest for ${minutes} minutes${from}`,
          "End it (pg_stat_activity, pg_terminate_backend): while it is open vacuum cannot clean up, and busy tables slow down.",
        )
      : ok("long transactions", "none"),
    work.prepared > 0
      ? warn(
          "prepared transactions",
          `${work.prepared} for longer than 5 minutes`,
          "Commit them or roll them back (pg_prepared_xacts): they hold their locks, even across a restart.",
        )
      : ok("prepared transactions", "none"),
    work.idle_slots > 0 && work.kept_bytes > LARGE_KEPT_BYTES
      ? warn(
          "replication slots",
          `${work.idle_slots} unused, keeping ${sizeText(work.kept_bytes)} of WAL`,
          "Restore the reader or drop the slot (pg_drop_replication_slot) before the disk is full.",
        )
      : ok("replication slots", work.idle_slots > 0 ? `${work.idle_slots} unused` : "none left behind"),
  ];
}

export function tableFindings(tables: readonly TableState[]): Finding[] {
  const dirty = tables.filter(({ live, dead }) => dead > MANY_DEAD && dead > DEAD_SHARE * live);
  const unknown = tables.filter(({ was_analyzed }) => !was_analyzed);
  const names = (tables: readonly TableState[]) =>
    tables
      .slice(0, 5)
      .map(({ name }) => name)
      .join(", ");
  return [
    dirty.length > 0
      ? warn(
          "dead rows",
          `more than half of ${names(dirty)}`,
          `Run vacuum on them, and let autovacuum begin sooner there (autovacuum_vacuum_scale_factor) or work faster (autovacuum_vacuum_cost_limit).`,
        )
      : ok("dead rows", "few in every large table"),
    unknown.length > 0
      ? warn(
          "statistics",
          `${names(unknown)} never analysed`,
          "Run analyze: without it PostgreSQL plans queries badly, especially after a restore.",
        )
      : ok("statistics", "every large table was analysed"),
  ];
}

export function storageFindings({ bytes, broken_indexes }: Storage): Finding[] {
  return [
    ok("size", sizeText(bytes)),
    broken_indexes.length > 0
      ? warn(
          "indexes",
          `broken: ${broken_indexes.slice(0, 5).join(", ")}`,
          "A build was interrupted: drop them with drop index concurrently. A running migration creates its own again.",
        )
      : ok("indexes", "none broken"),
  ];
}

const MANY_NUMBERS = 0.5;

/** `used` is the used share of campaign numbers; null if unknown. */
export function campaignNumberFinding(used: number | null): Finding {
  const state = `${((used ?? 0) * 100).toFixed(used !== null && used > 0.01 ? 0 : 2)} % of 2.1 billion are used`;
  return (used ?? 0) > MANY_NUMBERS
    ? warn(
        "campaign numbers",
        state,
        "Each send uses one, and sending stops when none is left: combine single mails (such as receipts) into fewer sends, or plan another installation for them.",
      )
    : ok("campaign numbers", used === null ? "this role may not see how many are used" : state);
}

/** `known` are this version's migrations; `applied` are the database's. */
export function migrationFinding(known: readonly string[], applied: readonly string[]): Finding {
  const missing = known.filter((name) => !applied.includes(name));
  const newer = applied.filter((name) => !known.includes(name));
  if (missing.length > 0) {
    return fail(
      "migrations",
      `${missing.length} not applied, first ${missing[0]}`,
      "Start a process with MIGRATIONS=apply, or run the migration job.",
    );
  }
  if (newer.length === 0) return ok("migrations", `all ${known.length} applied`);
  return warn(
    "migrations",
    `${newer.length} of a newer version: ${newer[0]}`,
    "Normal during an update; otherwise start the newer version that this database belongs to.",
  );
}

async function clock(): Promise<Finding> {
  const askedAtMs = Date.now();
  const theirsMs = await databaseClock();
  return clockFinding(AREA, "clock", { whose: "The database's clock", theirsMs, askedAtMs, answeredAtMs: Date.now() });
}

const REACH = "Start PostgreSQL and check DATABASE_URL: without it nothing is sent.";
const SLOW = "Move the database closer, or check what keeps it or this process busy: each batch of mails waits for it.";
const ASK_AGAIN = "Try again when the database is less busy; if this persists, check pg_stat_activity.";

/** `poolSizes` is the number of connections that each node may open. */
export function databaseChecks(settings: Config, poolSizes: Promise<number[]>): Check[] {
  const isEmbedded = settings.DATABASE_URL === undefined;
  const check = (name: string, work: () => Promise<Finding[]>, advice = ASK_AGAIN): Check => ({
    area: AREA,
    check: name,
    advice,
    work,
  });
  return [
    check("answers", async () => [await latencyFinding(AREA, "answers", askDatabase, SLOW)], REACH),
    check("server", async () => {
      const facts = await serverFacts();
      return [...serverFindings(facts, { isEmbedded }), ...connectionFindings(facts, await poolSizes)];
    }),
    check("replication", async () => [replicationFinding(await readReplication())]),
    check("migrations", async () => [migrationFinding([...knownMigrations().keys()], await appliedMigrations())]),
    check("partitions of recipients", async () => [
      (await isPartAhead())
        ? ok("partitions of recipients", "the next one exists")
        : warn(
            "partitions of recipients",
            "the next one is missing",
            "Check the log of campaigns: the first campaign of a month creates the next partition and fails if its role may not.",
          ),
    ]),
    check("partitions of hits", async () => [
      (await isHitPartAhead())
        ? ok("partitions of hits", "next month's exists")
        : warn(
            "partitions of hits",
            "next month's is missing",
            "Check the log of campaigns, which creates it: without it that month's hits take four times the space.",
          ),
    ]),
    check("campaign numbers", async () => [campaignNumberFinding(await campaignNumbersUsed())]),
    check("long transactions", async () => longWorkFindings(await longWork())),
    check("large tables", async () => tableFindings(await largeTables())),
    check("size", async () => storageFindings(await storage())),
    check("clock", async () => [await clock()]),
  ];
}
