/**
 * Starts and stops a service process. A failed start logs one line and leaves nothing running. SIGTERM, Ctrl-C, a
 * closed terminal and the death of the parent npm all cause the same orderly stop, once.
 */
import { readFileSync } from "node:fs";
import type { BrokerOptions, ServiceBroker } from "moleculer";

const PARENT_CHECK_MS = 500;
/**
 * Time after the drain. A hanging stop must not block a terminal or a rolling update; the next start recovers the rest.
 */
export const STOP_MARGIN_MS = 15_000;
/** npm forwards a Ctrl-C that the terminal also sent to the service: a second one within this time is the same. */
const SAME_INTERRUPT_MS = 1_000;
/** Exit code of a program ended by Ctrl-C. */
const INTERRUPTED = 130;

/** nohup ignores SIGHUP for us; our own handler would undo that. */
function hangupIsIgnored(): boolean {
  try {
    const mask = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "0";
    return (BigInt(`0x${mask}`) & 1n) === 1n;
  } catch {
    return false;
  }
}

/** npm does not pass on its process id; its death shows as a change of the parent. */
function onParentExit(stop: () => void): void {
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

function takeOver(broker: ServiceBroker, drainMs: number): void {
  let started: Promise<void> = Promise.resolve();
  let ending = false;

  const end = async (code: number) => {
    if (ending) return;
    ending = true;
    setTimeout(() => process.exit(1), drainMs + STOP_MARGIN_MS).unref();
    // A stop during the start waits for it; otherwise later parts would keep running.
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
      // Never resolves, so that callers of start() do not continue: the process is about to exit.
      return new Promise(() => {});
    });
  };

  const orderly = () => void end(0);
  let interruptedAtMs: number | undefined;
  const interrupted = () => {
    interruptedAtMs ??= performance.now();
    // A second Ctrl-C skips the remaining shutdown.
    if (performance.now() - interruptedAtMs > SAME_INTERRUPT_MS) process.exit(INTERRUPTED);
    orderly();
  };
  process.on("SIGTERM", orderly).on("SIGINT", interrupted);
  if (!hangupIsIgnored()) process.on("SIGHUP", orderly);
  onParentExit(orderly);
}

/**
 * Handles signals and exit codes of this process; only for separate processes, because tests start and stop many
 * brokers in one.
 */
export function ownProcess({ DRAIN_SECONDS }: { DRAIN_SECONDS: number }, options: BrokerOptions): BrokerOptions {
  const created = (broker: ServiceBroker) => takeOver(broker, DRAIN_SECONDS * 1_000);
  return { ...options, skipProcessEventRegistration: true, created };
}
