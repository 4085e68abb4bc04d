/** Has the server check the mail after a pause in typing, one request at a time. */
import { visual as t } from "../messages/visual.ts";
import { ask, isProblem } from "./ask.ts";
import type { Boot } from "./boot.ts";
import { documentOf } from "./saving.ts";
import { type Checks, type Content, contentOf, type Store } from "./store.ts";

const PAUSE_MS = 1_500;
/** Path of a block, which means nothing to people who write no code. */
const BLOCK_PATH = /\bblocks\[\S+: /g;

export interface Checking {
  /** Also requests the links and asks the spam filter. */
  checkAll(): Promise<void>;
}

export function checking(boot: Boot, store: Store): Checking {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let checked: Content | undefined;
  let isRunning = false;

  async function run(isWhole: boolean): Promise<void> {
    const content = contentOf(store.read());
    if (isRunning || (content === checked && !isWhole)) return;
    isRunning = true;
    store.set({ isChecking: true });
    const fields = { document: JSON.stringify(documentOf(content)), ...(isWhole ? { all: "1" } : {}) };
    const answer = await ask<Pick<Checks, "findings" | "size" | "warnings">>(
      boot,
      boot.paths.check,
      new URLSearchParams(fields),
    );
    checked = content;
    isRunning = false;
    const before = store.read().checks;
    const found = isProblem(answer)
      ? { findings: [], size: 0, warnings: [answer.problem.replaceAll(BLOCK_PATH, "")] }
      : answer;
    const checks = { ...found, isWhole };
    const count = countOf(checks);
    const isNews = before !== null && countOf(before) !== count;
    store.set({ checks, isChecking: false, ...(isNews || isWhole ? { said: t.checks.count(count) } : {}) });
    if (contentOf(store.read()) !== content) later();
  }
  function later(): void {
    clearTimeout(timer);
    timer = setTimeout(() => void run(false), PAUSE_MS);
  }
  let seen: Content | undefined;
  store.subscribe(() => {
    const content = contentOf(store.read());
    if (content === seen) return;
    seen = content;
    later();
  });
  later();
  return { checkAll: () => run(true) };
}

export const countOf = ({ findings, warnings }: Checks): number => findings.length + warnings.length;
