/**
 * `ops top` in a terminal: the screen is drawn again in place every two seconds until q, Ctrl-C or a signal to end, and the
 * terminal is left as it was found. Where nobody looks (a pipe, a file, `--once`) it is printed once.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Ask } from "../ask-broker.ts";
import { fitted, sentence } from "../table.ts";
import type { Overview } from "./overview.ts";
import { PRINTED, type Size, screenOf } from "./screen.ts";

const EVERY_MS = 2_000;
/** Rates are what was counted since the question before. */
const BETWEEN_TWO_MS = 1_000;

const ENTER = "\u001b[?1049h\u001b[?25l";
const LEAVE = "\u001b[?25h\u001b[?1049l";
const HOME = "\u001b[H";
const CLEAR_LINE = "\u001b[K";
const CLEAR_BELOW = "\u001b[J";

export interface Input {
  isTTY?: boolean;
  setRawMode?(mode: boolean): unknown;
  resume(): unknown;
  pause(): unknown;
  on(event: "data", listener: (chunk: Buffer | string) => void): unknown;
  off(event: "data", listener: (chunk: Buffer | string) => void): unknown;
}

export interface Output {
  isTTY?: boolean;
  columns?: number;
  rows?: number;
  write(text: string): unknown;
  on(event: "resize" | "error", listener: (error?: Error) => void): unknown;
  off(event: "resize" | "error", listener: (error?: Error) => void): unknown;
}

export interface Watching {
  json: boolean;
  once: boolean;
  input: Input;
  output: Output;
  everyMs?: number;
}

const sizeOf = ({ columns = 80, rows = 24 }: Output): Size => ({ width: columns, height: rows });

const QUIT = /[qQ\u0003\u0004]/;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Aborts at a key that ends it, a signal, or when the output is gone (`| head`). */
function endedBy({ input, output }: Watching): { signal: AbortSignal; forget(): void } {
  const stop = new AbortController();
  const end = () => stop.abort();
  const onKey = (chunk: Buffer | string) => {
    if (QUIT.test(chunk.toString())) end();
  };
  const takesKeys = Boolean(input.isTTY && output.isTTY);
  if (takesKeys) {
    input.setRawMode?.(true);
    input.on("data", onKey);
    input.resume();
  }
  output.on("error", end);
  for (const signal of SIGNALS) process.on(signal, end);
  return {
    signal: stop.signal,
    forget() {
      for (const signal of SIGNALS) process.off(signal, end);
      output.off("error", end);
      if (!takesKeys) return;
      input.off("data", onKey);
      input.setRawMode?.(false);
      input.pause();
    },
  };
}

/** Two questions, so that there are rates. */
async function printOnce(ask: Ask, { json, output, everyMs = EVERY_MS }: Watching): Promise<void> {
  await ask("operator.top", {});
  await sleep(Math.min(everyMs, BETWEEN_TWO_MS));
  const overview = await ask("operator.top", {});
  const lines = json
    ? [JSON.stringify(overview)]
    : screenOf(overview, { ...PRINTED, width: output.columns ?? PRINTED.width });
  output.write(`${lines.join("\n")}\n`);
}

/** Undefined when it was ended first: whatever the question is waiting for. */
const unlessEnded = <T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> => {
  work.catch(() => {});
  let end = () => {};
  const ended = new Promise<undefined>((done) => {
    end = () => done(undefined);
    signal.addEventListener("abort", end, { once: true });
  });
  return Promise.race([work, ended]).finally(() => signal.removeEventListener("abort", end));
};

/** Asks again and again; each answer, or the failure to get one, goes to `show`. */
async function repeat(
  ask: Ask,
  signal: AbortSignal,
  everyMs: number,
  show: (answer: Overview | undefined, problem: string) => void,
): Promise<void> {
  while (!signal.aborted) {
    const askedAtMs = performance.now();
    try {
      const answer = await unlessEnded(ask("operator.top", {}), signal);
      if (answer) show(answer, "");
    } catch (error) {
      show(undefined, sentence(error));
    }
    const restMs = Math.max(0, everyMs - (performance.now() - askedAtMs));
    await sleep(restMs, undefined, { signal }).catch(() => {});
  }
}

export async function watchTop(ask: Ask, watching: Watching): Promise<void> {
  const { json, once, output, everyMs = EVERY_MS } = watching;
  if (once || !(json || output.isTTY)) return printOnce(ask, watching);
  const { signal, forget } = endedBy(watching);
  let last: Overview | undefined;
  let notice = "";
  const draw = () => {
    const lines = last ? screenOf(last, sizeOf(output), notice) : [fitted(notice, sizeOf(output).width).trimEnd()];
    output.write(`${HOME}${lines.map((line) => line + CLEAR_LINE).join("\r\n")}${CLEAR_BELOW}`);
  };
  if (!json) {
    output.write(ENTER);
    output.on("resize", draw);
  }
  try {
    await repeat(ask, signal, everyMs, (answer, problem) => {
      if (json) {
        output.write(`${JSON.stringify(answer ?? { at: new Date().toISOString(), error: problem })}\n`);
        return;
      }
      last = answer ?? last;
      notice = problem && `No answer: ${problem}`;
      draw();
    });
  } finally {
    forget();
    if (!json) {
      output.off("resize", draw);
      output.write(LEAVE);
    }
  }
}
