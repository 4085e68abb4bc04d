/**
 * Test environment (one-context.ts) that fails a test file which leaves sockets, servers, child processes, timers or
 * test databases behind, and names them. (`drop` in database.ts checks for connections and advisory locks.) Without it,
 * one forgotten socket keeps the whole run from ending and cannot be traced. Afterwards it ends everything and reloads
 * shared packages; otherwise leftovers would create timers and sockets in later files, which would fail instead.
 */
import { ChildProcess } from "node:child_process";
import { Server, Socket } from "node:net";
import timers from "node:timers/promises";
import type { TestEnvironment } from "jest-environment-node";
import { OneContextEnvironment } from "./one-context.ts";
import { dropSharedPackages } from "./shared-packages.ts";

/** Closed handles may take a moment to disappear, long on a busy machine. Option `graceMs` of the environment. */
const GRACE_MS = 5_000;
const LOOK_EVERY_MS = 20;
/** Ended clients may reconnect, so this many checks in a row must find nothing new. */
const QUIET_LOOKS = 5;
const END_WITHIN_MS = 5_000;
/** Undocumented, but present since Node 0.x; gives what `--detectOpenHandles` would, at no cost. */
const activeHandles = (): object[] => (process as unknown as { _getActiveHandles(): object[] })._getActiveHandles();

const address = ({ address, port }: { address?: string; port?: number }) => `${address}:${port}`;

function described(handle: object): string {
  if (handle instanceof ChildProcess) return `child process ${handle.pid}: ${handle.spawnargs.join(" ").slice(0, 200)}`;
  if (handle instanceof Server) {
    const at = handle.address();
    return `server on ${at && typeof at === "object" ? address(at) : at}`;
  }
  if (handle instanceof Socket) {
    const { localAddress, localPort, remoteAddress, remotePort } = handle;
    if (!remoteAddress && !localAddress) return `pipe, or a socket that was never connected${paused(handle)}`;
    const ends = [
      address({ address: localAddress, port: localPort }),
      address({ address: remoteAddress, port: remotePort }),
    ];
    return `socket ${ends.join(" → ")}${paused(handle)}`;
  }
  return handle.constructor.name;
}

/** A paused socket never notices that the other side has closed. */
const paused = (socket: Socket) => (socket.isPaused() ? ", paused" : "");

function end(handle: object): void {
  const { destroy, close } = handle as { destroy?: () => void; close?: () => void };
  if (handle instanceof ChildProcess) handle.kill("SIGKILL");
  else (destroy ?? close)?.call(handle);
}

type Global = Pick<typeof globalThis, "setTimeout" | "setInterval"> & { testDatabases?: Set<string> };
type Start = (run: () => void, ...rest: unknown[]) => NodeJS.Timeout;

const originalSleep = timers.setTimeout;
const NEVER = new Promise<never>(() => {});

/**
 * Jest records a hundred stack frames for every error. Fewer show where a timer was made, and errors are made all the
 * time.
 */
const FRAMES = 10;

function here(): Error {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = FRAMES;
  const error = new Error();
  Error.stackTraceLimit = limit;
  return error;
}

/** The project's line that made the call. */
const origin = (stack = ""): string => {
  const frames = stack.split("\n").filter((frame) => !/leak-environment|^Error|node:/.test(frame));
  return (frames.find((frame) => !frame.includes("node_modules")) ?? frames[0] ?? "somewhere").trim();
};

// Created at first use: a warning in a worker's first file would look like a leaked pipe.
void [process.stdout, process.stderr];

export default class LeakEnvironment extends OneContextEnvironment {
  readonly #before = new Set(activeHandles());
  /** Pending timers of this file, with the place where they were made. */
  readonly #timers = new Map<NodeJS.Timeout, Error>();
  readonly #sleeps = new Set<Error>();
  /** True once the file is over and has left something behind. */
  #isEnding = false;
  readonly #graceMs: number;
  readonly #originals = { setTimeout: globalThis.setTimeout, setInterval: globalThis.setInterval };

  constructor(...given: ConstructorParameters<typeof TestEnvironment>) {
    super(...given);
    this.#graceMs = Number(given[0].projectConfig.testEnvironmentOptions.graceMs ?? GRACE_MS);
    const global = this.global as unknown as Global;
    for (const name of ["setTimeout", "setInterval"] as const) {
      const start = global[name] as unknown as Start;
      const kept: Start = (run, ...rest) => this.#keep(start(run, ...rest));
      // util.promisify(setTimeout) finds its own version by a symbol.
      Object.defineProperties(kept, Object.getOwnPropertyDescriptors(start));
      Object.assign(global, { [name]: kept });
    }
    // This module is shared by the environment and one file at a time.
    const sleeping: typeof originalSleep = (ms, value, options) =>
      this.#sleep(originalSleep(ms, value, options), options);
    Object.assign(timers, { setTimeout: sleeping });
  }

  override async teardown(): Promise<void> {
    Object.assign(timers, { setTimeout: originalSleep });
    Object.assign(globalThis, this.#originals);
    delete (globalThis as unknown as Global).testDatabases;
    await super.teardown();
  }

  #keep(timer: NodeJS.Timeout): NodeJS.Timeout {
    if (this.#timers.size % 1_000 === 999) this.#forgetEnded();
    this.#timers.set(timer, here());
    return timer;
  }

  #sleep<T>(sleep: Promise<T>, options: { ref?: boolean } = {}): Promise<T> {
    if (this.#isEnding) return NEVER;
    const origin = here();
    if (options.ref !== false) this.#sleeps.add(origin);
    const forget = () => void this.#sleeps.delete(origin);
    sleep.then(forget, forget);
    // Leftover sleepers must not wake up during another file.
    return sleep.then((value) => (this.#isEnding ? NEVER : value));
  }

  /** Listeners may report the closed handle after the file. */
  async #endAll(): Promise<void> {
    this.#isEnding = true;
    this.#sleeps.clear();
    const ignore = () => {};
    const events = ["uncaughtException", "unhandledRejection"] as const;
    for (const event of events) process.on(event, ignore);
    const deadline = performance.now() + END_WITHIN_MS;
    for (let quiet = 0; quiet < QUIET_LOOKS && performance.now() < deadline; ) {
      const handles = activeHandles().filter((handle) => !this.#before.has(handle));
      quiet = handles.length + this.#timers.size === 0 ? quiet + 1 : 0;
      for (const timer of this.#timers.keys()) clearTimeout(timer);
      this.#timers.clear();
      for (const handle of handles) end(handle);
      await originalSleep(LOOK_EVERY_MS);
    }
    for (const event of events) process.removeListener(event, ignore);
  }

  #forgetEnded(): void {
    for (const timer of this.#timers.keys()) if (!isPending(timer)) this.#timers.delete(timer);
  }

  #leaks(): string[] {
    this.#forgetEnded();
    const handles = activeHandles().filter((handle) => !this.#before.has(handle));
    const pending = [...this.#timers].filter(([timer]) => timer.hasRef()).map(([, made]) => made);
    const databases = (this.global as unknown as Global).testDatabases ?? [];
    return [
      ...handles.map(described),
      ...[...pending, ...this.#sleeps].map(({ stack }) => `timer made ${origin(stack)}`),
      ...[...databases].map((name) => `database ${name}, not dropped`),
    ];
  }

  async handleTestEvent({ name }: { name: string }, state: { unhandledErrors: unknown[] }): Promise<void> {
    if (name === "setup") Object.assign(this.global.Error, { stackTraceLimit: FRAMES });
    if (name !== "run_finish") return;
    const deadline = performance.now() + this.#graceMs;
    let leaks = this.#leaks();
    while (leaks.length > 0 && performance.now() < deadline) {
      await originalSleep(LOOK_EVERY_MS);
      leaks = this.#leaks();
    }
    if (leaks.length === 0) return;
    const error = new Error(`The file left behind:\n  ${[...new Set(leaks)].join("\n  ")}`);
    error.stack = error.message;
    state.unhandledErrors.push(error);
    await this.#endAll();
    dropSharedPackages();
  }
}

const isPending = (timer: NodeJS.Timeout): boolean => !(timer as unknown as { _destroyed: boolean })._destroyed;
