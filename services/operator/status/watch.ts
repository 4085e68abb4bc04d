/** `ops status --watch`: redraws the screen every two seconds until Ctrl-C, then restores the terminal. */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Ask } from "../ask-broker.ts";
import { sentence } from "../table.ts";
import type { Overview } from "./overview.ts";
import { screenOf, sizeOf, type Terminal } from "./screen.ts";

const EVERY_MS = 2_000;

const ENTER = "\u001b[?1049h\u001b[?25l";
const LEAVE = "\u001b[?25h\u001b[?1049l";
const HOME = "\u001b[H";
const CLEAR_LINE = "\u001b[K";
const CLEAR_BELOW = "\u001b[J";

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

interface WatchedTerminal extends Terminal {
  write(text: string): unknown;
}

export async function watchStatus(ask: Ask, terminal: WatchedTerminal, everyMs = EVERY_MS): Promise<void> {
  const stop = new AbortController();
  const { signal } = stop;
  const end = () => stop.abort();
  const ended = once(signal, "abort").then(() => undefined);
  for (const name of SIGNALS) process.on(name, end);
  terminal.write(ENTER);
  let last: Overview | undefined;
  try {
    while (!signal.aborted) {
      let notice = "";
      try {
        // Ctrl-C does not wait for a slow answer.
        last = (await Promise.race([ask("operator.status", {}), ended])) ?? last;
      } catch (error) {
        notice = `No answer: ${sentence(error)}`;
      }
      const lines = screenOf(last, sizeOf(terminal), notice);
      terminal.write(`${HOME}${lines.map((line) => line + CLEAR_LINE).join("\r\n")}${CLEAR_BELOW}`);
      await sleep(everyMs, undefined, { signal }).catch(() => {});
    }
  } finally {
    for (const name of SIGNALS) process.off(name, end);
    terminal.write(LEAVE);
  }
}
