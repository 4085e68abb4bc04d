/**
 * Broker middleware: keeps the database available from before the first service starts until the last one has stopped.
 * Without DATABASE_URL it starts an embedded PostgreSQL. An action that fails because PostgreSQL is unavailable or has
 * ended a statement in favour of others fails as "unavailable", so that the caller may retry.
 */
import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Context, Middleware, ServiceBroker } from "moleculer";
import { closeDatabase, openDatabase } from "../models/database/db.ts";
import { migrate, pending } from "../models/database/migrate.ts";
import { isDatabaseOutage, retryInOutage } from "../models/database/outage.ts";
import { refuseUnusable } from "../models/database/pooler.ts";
import type { Caller } from "../services/lib/caller.ts";
import type { Config } from "../services/lib/config.ts";
import { isServiceError, unavailable } from "../services/lib/errors.ts";
import { asOwner, asService } from "../services/lib/owner.ts";
import { awaitPostgres } from "../services/lib/processes/await-postgres.ts";
import type { EmbeddedPostgres } from "../services/lib/processes/embedded-postgres.ts";
import { holdDirectory } from "../services/lib/processes/single-instance.ts";
import { supervisedPostgres } from "../services/lib/processes/supervised-postgres.ts";
import { READS_TRANSFERS } from "./nats-transporter.ts";

/**
 * Time between the end of the drain and the end of an embedded database; a second Ctrl-C waits at most five seconds.
 */
const AFTER_DRAIN_MS = 1_500;
const MIN_STOP_MS = 300;

const REASONS: Record<string, string> = {
  EACCES: "permission denied",
  EPERM: "permission denied",
  EEXIST: "it is not a directory",
  ENOTDIR: "it is not a directory",
  EROFS: "the file system is read-only",
  // Node's error for creating a directory on a read-only file system.
  ENOENT: "it cannot be created",
  ENOSPC: "the disk is full",
};

async function ownDirectory(directory: string): Promise<() => Promise<void>> {
  try {
    mkdirSync(directory, { recursive: true });
    return await holdDirectory(directory);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (!code) throw error;
    throw new Error(`cannot use ${resolve(directory)} (DATA_DIR): ${REASONS[code] ?? (error as Error).message}`);
  }
}

/** A stop signal ends the wait; otherwise its sender would kill the process after a minute. */
async function untilSignal<T>(wait: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const onSignal = () => stop.abort();
  process.on("SIGTERM", onSignal).on("SIGINT", onSignal);
  try {
    return await wait(stop.signal);
  } finally {
    process.off("SIGTERM", onSignal).off("SIGINT", onSignal);
  }
}

/** Once it takes connections what the service cannot work through is refused. */
async function awaitReachable(url: string, variable: string, waiting: (text: string) => void): Promise<void> {
  await untilSignal((signal) => awaitPostgres(url, { variable, waiting, signal }));
  await retryInOutage(() => refuseUnusable(url, { variable }));
}

const CHECK_EVERY_MS = 1_000;
/** Interval of log lines about the wait. */
const LOG_EVERY_MS = 60_000;

/**
 * Waits until all migrations that this code needs are applied by another process; that may take hours for large tables.
 */
async function migrated(url: string, waiting: (text: string) => void, signal: AbortSignal): Promise<void> {
  for (let sayAtMs = performance.now(); ; ) {
    const missing = await retryInOutage(() => pending(url));
    if (missing.length === 0) return;
    if (performance.now() >= sayAtMs) {
      waiting(`Waiting for migrations (MIGRATIONS=wait): ${missing.join(", ")}`);
      sayAtMs = performance.now() + LOG_EVERY_MS;
    }
    await sleep(CHECK_EVERY_MS, undefined, { signal }).catch(() => {});
    if (signal.aborted) throw new Error(`Stopped while waiting for migrations: ${missing.join(", ")}.`);
  }
}

type Handler = (ctx: Context) => Promise<unknown>;

/** Here and not in the gateway: over NATS an error of Sequelize loses the code of PostgreSQL's error within it. */
const failAsUnavailable =
  (next: Handler): Handler =>
  (ctx) =>
    next(ctx).catch((error: unknown) => {
      if (isServiceError(error) || !isDatabaseOutage(error)) throw error;
      throw unavailable(undefined, error as Error);
    });

/** Counts the call's work as its company's, and its waits as its request's. */
const forCompany =
  (next: Handler): Handler =>
  (ctx) => {
    const caller = ctx.meta as Caller;
    const budget = caller.waitLeftMs === undefined ? undefined : caller;
    return asOwner(caller.companyId, () => next(ctx), budget);
  };

export function database(config: Config): Middleware {
  let embedded: Omit<EmbeddedPostgres, "ended"> | undefined;
  let stopAtMs: number | undefined;
  let releaseDirectory: (() => Promise<void>) | undefined;

  return {
    name: "Database",

    localAction: (next: Handler) => forCompany(failAsUnavailable(next)),
    // Work caused by an event belongs to the service itself.
    localEvent:
      (next: Handler): Handler =>
      (ctx) => {
        // Calls made later do not belong to the request.
        delete (ctx.meta as Caller).waitLeftMs;
        return asService(() => next(ctx));
      },

    async starting(broker: ServiceBroker) {
      const waiting = (text: string) => broker.logger.warn(text);
      let url = config.DATABASE_URL;
      if (!url) {
        releaseDirectory = await ownDirectory(config.DATA_DIR);
        embedded = await supervisedPostgres(config.DATA_DIR, waiting);
        url = embedded.url;
      } else {
        const ownUrl = url;
        await awaitReachable(ownUrl, "DATABASE_URL", waiting);
        if (config.MIGRATIONS === "wait") await untilSignal((signal) => migrated(ownUrl, waiting, signal));
        else if (config.MIGRATION_DATABASE_URL) {
          await awaitReachable(config.MIGRATION_DATABASE_URL, "MIGRATION_DATABASE_URL", waiting);
        }
      }
      const owner = config.MIGRATION_DATABASE_URL ?? url;
      const applied = config.MIGRATIONS === "wait" && !embedded ? [] : await retryInOutage(() => migrate(owner));
      if (applied.length > 0) broker.logger.info(`Applied ${applied.length} migrations, the last is ${applied.at(-1)}`);
      const missing = await retryInOutage(() => pending(url));
      if (missing.length > 0) throw new Error(`Refusing to serve, migrations are pending: ${missing.join(", ")}`);
      openDatabase(url, config.DATABASE_POOL);
      broker.metadata[READS_TRANSFERS] = true;
    },

    async stopping() {
      stopAtMs = performance.now() + config.DRAIN_SECONDS * 1_000 + AFTER_DRAIN_MS;
    },

    // Two SIGTERMs run every `stopped` twice: each step here is safe to repeat.
    async stopped() {
      await closeDatabase();
      await embedded?.stop(stopAtMs && Math.max(MIN_STOP_MS, stopAtMs - performance.now()));
      await releaseDirectory?.();
      releaseDirectory = undefined;
    },
  } as unknown as Middleware;
}
