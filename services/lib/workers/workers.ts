/**
 * Runs worker threads for work that would block the process: compiling and previewing large templates. They start with
 * the first task and end when idle. Each task is bounded in time and memory, and so are a company's waiting tasks; one
 * company never has two threads at once.
 */
import { availableParallelism } from "node:os";
import { Piscina } from "piscina";
import { counter, gauge } from "../metrics.ts";
import { TaskQueue } from "./task-queue.ts";

export interface WorkerSettings {
  threads: number;
  /** CPU time. */
  maxSeconds: number;
  maxMegabytes: number;
  /** Idle time after which a thread ends, because it holds 40 MB. */
  idleMs: number;
  /** Limits of waiting texts, which are held in memory. */
  waitingCharactersPerCompany: number;
  waitingCharacters: number;
}

interface Task {
  /** Address of the module that exports the function. */
  file: string;
  name: string;
  input: unknown;
  /** Approximate size of its text. */
  characters: number;
}

const GIB = 1024 ** 3;
/** Memory limit of the container; 0 or more than available if there is none. The manifests give most pods 512 MiB. */
const hasMemoryForTwo = process.constrainedMemory() === 0 || process.constrainedMemory() >= GIB;

const DEFAULTS: WorkerSettings = {
  threads: availableParallelism() > 2 && hasMemoryForTwo ? 2 : 1,
  maxSeconds: 10,
  // A million characters of the smallest elements take 130 MB, a newsletter of 100 KB less than 48.
  maxMegabytes: 160,
  idleMs: 30_000,
  waitingCharactersPerCompany: 10_000_000,
  waitingCharacters: 30_000_000,
};

/** Minimum size counted per task, so that their number is bounded, too. */
const MIN_CHARACTERS = 10_000;

/** Thrown when the work exceeded its limits. A repetition would end the same way. */
export class TaskLimitExceeded extends Error {}

const tasks = counter("flockmail_worker_tasks_total", "Tasks of the worker threads by result.", ["outcome"]);

const LOOK_EVERY_MS = 250;
/** CPU share below which a waiting or starved thread is ended as well. */
const MIN_CPU_SHARE = 0.1;

/** CPU seconds of the thread since it began; undefined if Node cannot tell (before 24.6). */
async function cpuSecondsOf({ threads: [thread] }: Piscina): Promise<number | undefined> {
  if (thread && typeof thread.cpuUsage !== "function") return undefined;
  const { user, system } = (await thread?.cpuUsage().catch(() => undefined)) ?? { user: 0, system: 0 };
  return (user + system) / 1e6;
}

/**
 * Aborts after the given CPU seconds of the thread, so that a busy machine does not make a template too heavy. Without
 * CPU times it counts its checks, so that a process that was frozen for an hour ends nothing.
 */
function limitOf(pool: Piscina, maxSeconds: number): { signal: AbortSignal; clear: () => void } {
  const controller = new AbortController();
  const before = cpuSecondsOf(pool);
  // Checks often enough to stop a task before it finishes.
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
  /** Each pool has at most one thread, so that CPU time can be attributed. */
  readonly #pools = new Set<Piscina>();
  readonly #idle: Piscina[] = [];

  constructor(settings: Partial<WorkerSettings> = {}) {
    this.#settings = { ...DEFAULTS, ...settings };
    const { threads, waitingCharactersPerCompany, waitingCharacters } = this.#settings;
    this.#queue = new TaskQueue({
      threads,
      maxWaitingPerCompany: waitingCharactersPerCompany,
      maxWaitingTotal: waitingCharacters,
    });
  }

  get waiting(): number {
    return this.#queue.waiting;
  }

  get threads(): number {
    return [...this.#pools].reduce((sum, { threads }) => sum + threads.length, 0);
  }

  /**
   * Runs the function that `file` exports as `name` with a copy of `input`. Throws TaskLimitExceeded, or 429 if too
   * much waits.
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

  /** Ends the threads and their work. The next task starts them again. */
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
      // Otherwise an idle thread would block in a lock, together with its timers.
      atomics: "disabled",
      recordTiming: false,
      // Passes neither secrets nor options of this process: V8's heap limit above would apply to the thread, too.
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: maxMegabytes, maxYoungGenerationSizeMb: 32 },
    });
    // A thread ended without a task: the next task starts another.
    pool.on("error", () => tasks.inc({ outcome: "error" }));
    this.#pools.add(pool);
    return pool;
  }
}

const shared = new Workers();

/** Worker threads of this process. */
export const workers = (): Workers => shared;

export const closeWorkers = (): Promise<void> => shared.close();

gauge("flockmail_worker_tasks_waiting", "Tasks waiting for a worker thread.", () => shared.waiting);
gauge("flockmail_worker_threads", "Running worker threads.", () => shared.threads);
