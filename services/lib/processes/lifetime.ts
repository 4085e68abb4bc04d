/**
 * Start and stop of a service process. A start that fails says why in one line and leaves nothing running. SIGTERM, Ctrl-C,
 * a closed terminal and the death of the npm that started it all cause the same orderly stop, once.
 */
import { readFileSync } from "node:fs";
import type { BrokerOptions, ServiceBroker } from "moleculer";

const PARENT_CHECK_MS = 500;
// A stop that hangs must not hold up a terminal or a rolling update; the next start recovers what was left open.
const STOP_DEADLINE_MS = 20_000;

/** nohup and the like ignore SIGHUP for us; a handler of our own would undo that. */
function hangupIsIgnored(): boolean {
  try {
    const mask = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "0";
    return (BigInt(`0x${mask}`) & 1n) === 1n;
  } catch {
    return false;
  }
}

/** npm does not pass on its process id; its death shows as a change of the parent. */
function whenNpmDies(stop: () => void): void {
  if (!process.env.npm_lifecycle_event) return;
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid !== parent) stop();
  }, PARENT_CHECK_MS);
  timer.unref();
}

function reason(error: unknown): string {
  const { message, code, errors } = error as Error & { code?: string; errors?: Error[] };
  // Connecting to a name with several addresses fails with an AggregateError whose own message is empty.
  return (message || errors?.[0]?.message || code || String(error)).replaceAll(/\s*\n\s*/g, " ");
}

function takeOver(broker: ServiceBroker): void {
  let started: Promise<void> = Promise.resolve();
  let ending = false;

  const end = async (code: number) => {
    if (ending) return;
    ending = true;
    setTimeout(() => process.exit(1), STOP_DEADLINE_MS).unref();
    // A stop during the start would leave behind what starts after it.
    await started.catch(() => {});
    await broker.stop();
    process.exit(code);
  };

  const start = broker.start.bind(broker);
  broker.start = () => {
    started = start();
    return started.catch(async (error) => {
      if (!ending) process.stderr.write(`Flockmail cannot start: ${reason(error)}\n`);
      if (process.env.LOGLEVEL === "debug") process.stderr.write(`${(error as Error).stack}\n`);
      await end((error as { exitCode?: number }).exitCode ?? 1);
      // Never resolves, so that callers of start() go no further: the process is about to exit.
      return new Promise(() => {});
    });
  };

  const orderly = () => void end(0);
  process.on("SIGTERM", orderly).on("SIGINT", orderly);
  if (!hangupIsIgnored()) process.on("SIGHUP", orderly);
  whenNpmDies(orderly);
}

/** For processes of their own only: tests start and stop many brokers in one. */
export function ownProcess(options: BrokerOptions): BrokerOptions {
  return { ...options, skipProcessEventRegistration: true, created: takeOver };
}
