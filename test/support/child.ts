/** Child processes of tests. They end when the test stops them and when the test itself is killed. */
import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const STOP_TIMEOUT_MS = 10_000;
const KEPT_OUTPUT = 16_000;

const canDieWithParent =
  process.platform === "linux" && spawnSync("setpriv", ["--version"], { stdio: "ignore" }).status === 0;

export interface Child {
  readonly pid: number;
  /** The last part of stdout and stderr. */
  output(): string;
  running(): boolean;
  signal(name: NodeJS.Signals): void;
  /** Resolves after the end, with the exit code or the signal's name. */
  ended: Promise<number | NodeJS.Signals>;
  /** Sends SIGTERM, and SIGKILL after ten seconds. */
  stop(): Promise<void>;
}

export function startChild(command: string, args: string[], options: SpawnOptions = {}): Child {
  const [file, ...rest] = canDieWithParent ? ["setpriv", "--pdeathsig", "KILL", command, ...args] : [command, ...args];
  const child = spawn(file!, rest, {
    stdio: ["ignore", "pipe", "pipe"],
    ...options,
    env: { ...process.env, ...options.env },
  });
  let kept = "";
  const keep = (chunk: Buffer) => {
    kept = (kept + chunk).slice(-KEPT_OUTPUT);
  };
  child.stdout?.on("data", keep);
  child.stderr?.on("data", keep);
  const ended = end(child);
  const running = () => child.exitCode === null && child.signalCode === null;
  return {
    pid: child.pid!,
    output: () => kept,
    running,
    signal: (name) => void child.kill(name),
    ended,
    async stop() {
      if (!running()) return;
      child.kill("SIGTERM");
      // A stopped process (SIGSTOP) handles no SIGTERM until it continues.
      child.kill("SIGCONT");
      const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
      await ended;
      clearTimeout(timer);
    },
  };
}

async function end(child: ChildProcess): Promise<number | NodeJS.Signals> {
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  return code ?? signal!;
}

export const listening = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, "127.0.0.1", () => resolve(socket.destroy() !== undefined));
    socket.once("error", () => resolve(false));
  });

/** Waits until the child listens on the port; throws with its output if it ends or takes too long. */
export async function untilListening(child: Child, port: number, timeoutMs = 50_000): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await listening(port))) {
    if (!child.running()) throw new Error(`It ended before it listened on port ${port}:\n${child.output()}`);
    if (Date.now() > deadline) throw new Error(`Nothing listens on port ${port}:\n${child.output()}`);
    await sleep(20);
  }
}
