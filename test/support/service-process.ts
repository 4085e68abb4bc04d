/** Runs the service like its users do: in its own process, on free ports, with a data folder. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { unusedPort } from "../../services/lib/processes/unused-port.ts";
import { type Child, startChild } from "./child.ts";

const ROOT = resolve(import.meta.dirname, "../..");
/** Generous: eighteen processes of two clusters that start at once without a compile cache are slow. */
const READY_TIMEOUT_MS = 120_000;
const REQUEST_TIMEOUT_MS = 2_000;
const RUNNER = ["node_modules/moleculer/bin/moleculer-runner.js", "--config", "moleculer.config.ts"];

/**
 * Limits of memory and threads from package.json and the Dockerfile. Semi-space: V8's default of 32 MB only costs
 * memory. Old space: V8 would otherwise fill the container's memory. V8's pool: with four threads, garbage collection
 * delays requests on two cores. malloc arenas: one per thread wastes memory.
 */
export const MEMORY = {
  MALLOC_ARENA_MAX: "1",
  NODE_OPTIONS: "--max-semi-space-size=16 --max-old-space-size=512 --v8-pool-size=1",
};

const bundledNode = join(ROOT, "node_modules/.bin/node");
/** The Node of npm scripts, even if an older one runs the tests. */
export const node = existsSync(bundledNode) ? bundledNode : process.execPath;

export interface ServiceProcess {
  child: Child;
  url: string;
  healthUrl: string;
  /** Resolves when /ready succeeds; throws with the output if the process ends first. */
  ready(): Promise<ServiceProcess>;
}

export interface ProcessOptions {
  /** Starts it like a user ("npm start") or like an image ("node"). */
  by?: "npm start" | "node";
  /** Service folders; default all. Only with "node". */
  services?: string[];
  env?: NodeJS.ProcessEnv;
  /** Starts it in its own process group, as in a terminal. */
  detached?: boolean;
  /** Folder of another version's code. */
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

/** Uses free ports unless `env` has them. */
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

/** Restarts a killed database server. Its backends live a moment longer and hold its shared memory. */
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

/** A folder for DATA_DIR, on disk by default; `remove` deletes it. */
export function dataFolder(parent = tmpdir()): { path: string; remove(): void } {
  const path = mkdtempSync(join(parent, "flockmail-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
