/** The service as users run it: a process of its own, on free ports, with the data of a folder. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { unusedPort } from "../../services/lib/processes/unused-port.ts";
import { type Child, startChild } from "./child.ts";

const ROOT = resolve(import.meta.dirname, "../..");
/** Eighteen processes of two clusters that start at once, with nothing compiled yet, took a minute on two cores. */
const READY_TIMEOUT_MS = 120_000;
const REQUEST_TIMEOUT_MS = 2_000;
const RUNNER = ["node_modules/moleculer/bin/moleculer-runner.js", "--config", "moleculer.config.ts"];

/**
 * How package.json and the Dockerfile bound memory and threads. Semi-spaces: V8's default of 32 MB makes a process 30 MB larger and
 * sends no faster. Old space: V8 would otherwise fill the container's memory. V8's pool: with its default of four threads, garbage
 * collection delays other requests on two cores. Arenas of malloc: one for each thread leaves 15 MB unused.
 */
export const MEMORY = {
  MALLOC_ARENA_MAX: "1",
  NODE_OPTIONS: "--max-semi-space-size=16 --max-old-space-size=512 --v8-pool-size=1",
};

const bundledNode = join(ROOT, "node_modules/.bin/node");
/** The Node that npm scripts run on, also when a test was started by an older one. */
export const node = existsSync(bundledNode) ? bundledNode : process.execPath;

export interface ServiceProcess {
  child: Child;
  url: string;
  healthUrl: string;
  /** Resolves when /ready says so; throws with the output when the process ends first. */
  ready(): Promise<ServiceProcess>;
}

export interface ProcessOptions {
  /** As a user starts it, or node itself as an image does. */
  by?: "npm start" | "node";
  /** Service folders; all of them when absent. Only with "node". */
  services?: string[];
  env?: NodeJS.ProcessEnv;
  /** In a process group of its own, as in a terminal. */
  detached?: boolean;
  /** Where its code is: another version's. */
  root?: string;
}

async function isReady(healthUrl: string): Promise<boolean> {
  try {
    return (await fetch(`${healthUrl}/ready`, { signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) })).ok;
  } catch {
    return false;
  }
}

async function untilReady(service: ServiceProcess): Promise<ServiceProcess> {
  const deadline = Date.now() + READY_TIMEOUT_MS;
  while (!(await isReady(service.healthUrl))) {
    if (!service.child.running()) throw new Error(`The service ended before it was ready:\n${service.child.output()}`);
    if (Date.now() > deadline) throw new Error(`The service is not ready:\n${service.child.output()}`);
    await sleep(100);
  }
  return service;
}

/** Ports that are not in `env` are free ones. */
export async function startService({
  by = "node",
  services,
  env = {},
  detached,
  root = ROOT,
}: ProcessOptions): Promise<ServiceProcess> {
  const PORT = env.PORT ?? `${await unusedPort()}`;
  const HEALTH_PORT = env.HEALTH_PORT ?? `${await unusedPort()}`;
  const globs = services?.map((name) => `services/${name}/*.service.ts`) ?? ["services/**/*.service.ts"];
  const [command, args] = by === "node" ? [node, [...RUNNER, ...globs]] : ["npm", ["start"]];
  const child = startChild(command, args, {
    cwd: root,
    env: { ...(by === "node" ? MEMORY : {}), ...env, PORT, HEALTH_PORT },
    detached,
  });
  const service: ServiceProcess = {
    child,
    url: `http://localhost:${PORT}`,
    healthUrl: `http://localhost:${HEALTH_PORT}`,
    ready: () => untilReady(service),
  };
  return service;
}

const DATABASE_RETRY_MS = 200;

/** Starts a database again whose server was killed: its backends outlive it for a moment, and hold its memory. */
export async function untilDatabaseStarts<T>(start: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await start();
    } catch (error) {
      if (!/shared memory|lock file/.test((error as Error).message)) throw error;
      await sleep(DATABASE_RETRY_MS);
    }
  }
}

/** A folder for DATA_DIR, removed by `remove`. */
export function dataFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), "flockmail-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
