/**
 * Threads for what would hold up everything else in this process: large templates are compiled and previewed here. They
 * begin at the first task and end when there is nothing to do. Each task is bounded in time and memory, and so is what one
 * company may have waiting; one company never has two threads at once.
 */
import { availableParallelism } from "node:os";
import { Piscina } from "piscina";
import { counter, gauge } from "../metrics.ts";
import { TaskQueue } from "./task-queue.ts";

export interface WorkerSettings {
  threads: number;
  /** Of CPU time. */
  maxSeconds: number;
  maxMegabytes: number;
  /** A thread without work ends after so long: it holds 40 MB. */
  idleMs: number;
  /** What waits holds its text in memory. */
  waitingCharactersPerCompany: number;
  waitingCharacters: number;
}

interface Task {
  /** Address of the module that exports the function. */
  file: string;
  name: string;
  input: unknown;
  /** Of the text in it, about. */
  characters: number;
}

const GIB = 1024 ** 3;
/** Of the container; 0 or more than there is where there is none. The manifests give most pods 512 MiB. */
const hasRoomForTwo = process.constrainedMemory() === 0 || process.constrainedMemory() >= GIB;

const DEFAULTS: WorkerSettings = {
  threads: availableParallelism() > 2 && hasRoomForTwo ? 2 : 1,
  maxSeconds: 10,
  // A million characters of the smallest elements there are take 130 MB, a newsletter of 100 KB less than 48.
  maxMegabytes: 160,
  idleMs: 30_000,
  waitingCharactersPerCompany: 10_000_000,
  waitingCharacters: 30_000_000,
};

/** What is shorter counts as that much, so that their number is bounded, too. */
const MIN_CHARACTERS = 10_000;

/** The work was ended because it took too much. Doing it again would end the same way. */
export class TaskLimitExceeded extends Error {}

const tasks = counter("flockmail_worker_tasks_total", "Tasks of the worker threads by result.", ["outcome"]);

const LOOK_EVERY_MS = 250;
/** A thread that gets no more of a busy machine than this, or waits for something, is ended all the same. */
const MIN_CPU_SHARE = 0.1;

/** CPU seconds of the thread since it began; undefined where Node cannot tell (before 24.6). */
async function cpuSecondsOf({ threads: [thread] }: Piscina): Promise<number | undefined> {
  if (thread && typeof thread.cpuUsage !== "function") return undefined;
  const { user, system } = (await thread?.cpuUsage().catch(() => undefined)) ?? { user: 0, system: 0 };
  return (user + system) / 1e6;
}

/**
 * Aborts after so many seconds of the thread's CPU: on a busy machine a template is not too heavy for being slow. Without
 * them it counts how often it looked, so that a process that was frozen for an hour ends nothing.
 */
function limitOf(pool: Piscina, maxSeconds: number): { signal: AbortSignal; clear: () => void } {
  const controller = new AbortController();
  const before = cpuSecondsOf(pool);
  // A limit is looked at before a task that breaks it is done.
  const everyMs = Math.min(LOOK_EVERY_MS, maxSeconds * 1_000);
  let looks = 0;
  const look = async () => {
    const seconds = (++looks * everyMs) / 1_000;
    if (seconds * MIN_CPU_SHARE > maxSeconds) return controller.abort();
    const [then, now] = [await before, await cpuSecondsOf(pool)];
    const spent = then === undefined || now === undefined ? seconds : now - then;
    if (spent > maxSeconds) controller.abort();
  };
  const timer = setInterval(() => void look(), everyMs);
  return { signal: controller.signal, clear: () => clearInterval(timer) };
}

const codeOf = (error: unknown) => (error as { code?: unknown } | null)?.code;

export class Workers {
  readonly #settings: WorkerSettings;
  readonly #queue: TaskQueue;
  /** Each has one thread at most, so that it is known whose CPU time is whose. */
  readonly #pools = new Set<Piscina>();
  readonly #idle: Piscina[] = [];

  constructor(settings: Partial<WorkerSettings> = {}) {
    this.#settings = { ...DEFAULTS, ...settings };
    const { threads, waitingCharactersPerCompany, waitingCharacters } = this.#settings;
    this.#queue = new TaskQueue({
      threads,
      waitingPerCompany: waitingCharactersPerCompany,
      waitingInTotal: waitingCharacters,
    });
  }

  get waiting(): number {
    return this.#queue.waiting;
  }

  get threads(): number {
    return [...this.#pools].reduce((sum, { threads }) => sum + threads.length, 0);
  }

  /**
   * What the function that `file` exports as `name` returns for `input`, which is copied. Throws TaskLimitExceeded, or 429
   * where too much waits.
   */
  run<R>(companyId: string, { file, name, input, characters }: Task): Promise<R> {
    return this.#queue.run(companyId, Math.max(characters, MIN_CHARACTERS), async () => {
      const pool = this.#idle.pop() ?? this.#newPool();
      const { signal, clear } = limitOf(pool, this.#settings.maxSeconds);
      try {
        const result: R = await pool.run(input, { filename: file, name, signal });
        tasks.inc({ outcome: "done" });
        return result;
      } catch (error) {
        throw this.#failure(error, signal.aborted);
      } finally {
        clear();
        if (this.#pools.has(pool)) this.#idle.push(pool);
      }
    });
  }

  /** Ends the threads, and what they are doing. The next task starts them again. */
  async close(): Promise<void> {
    const pools = [...this.#pools];
    this.#pools.clear();
    this.#idle.length = 0;
    await Promise.all(pools.map((pool) => pool.destroy()));
  }

  #failure(error: unknown, isLate: boolean): unknown {
    const { maxSeconds, maxMegabytes } = this.#settings;
    const isLarge = codeOf(error) === "ERR_WORKER_OUT_OF_MEMORY";
    tasks.inc({ outcome: isLate ? "time" : isLarge ? "memory" : "error" });
    if (isLate) return new TaskLimitExceeded(`it takes more than ${maxSeconds} seconds of computing`);
    return isLarge ? new TaskLimitExceeded(`it takes more than ${maxMegabytes} MB of memory`) : error;
  }

  #newPool(): Piscina {
    const { idleMs, maxMegabytes } = this.#settings;
    const pool = new Piscina({
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: idleMs,
      // Without it a thread that has nothing to do waits in a lock, and its timers with it.
      atomics: "disabled",
      recordTiming: false,
      // Neither secrets nor options of this process: V8's heap limit above would be the thread's, too.
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: maxMegabytes, maxYoungGenerationSizeMb: 32 },
    });
    // A thread that ends without a task: nobody waits for it, and the next task starts another.
    pool.on("error", () => tasks.inc({ outcome: "error" }));
    this.#pools.add(pool);
    return pool;
  }
}

const shared = new Workers();

/** Those of this process. */
export const workers = (): Workers => shared;

export const closeWorkers = (): Promise<void> => shared.close();

gauge("flockmail_worker_tasks_waiting", "Tasks waiting for a worker thread.", () => shared.waiting);
gauge("flockmail_worker_threads", "Running worker threads.", () => shared.threads);
