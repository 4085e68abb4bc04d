/** Has the server check the mail after a pause in typing, one request at a time. */
import { visual as t } from "../messages/visual.ts";
import type { Boot } from "./boot.ts";
import { documentOf } from "./saving.ts";
import { type Checks, type Content, contentOf, type Store } from "./store.ts";

const PAUSE_MS = 1_500;

export interface Checking {
  /** Also requests the links and asks the spam filter. */
  checkAll(): Promise<void>;
}

export async function postTo<T>(
  { formToken }: Boot,
  path: string,
  fields: Record<string, string>,
): Promise<T | undefined> {
  try {
    const headers = { "x-csrf-token": formToken };
    const response = await fetch(path, { method: "POST", headers, body: new URLSearchParams(fields) });
    const isJson = response.headers.get("content-type")?.startsWith("application/json") && !response.redirected;
    return isJson ? ((await response.json()) as T) : undefined;
  } catch {
    return undefined;
  }
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
    const answer = await postTo<Partial<Checks> & { sentences?: string[] }>(boot, boot.paths.check, fields);
    checked = content;
    isRunning = false;
    const before = store.read().checks;
    const { findings = [], size = 0, sentences } = answer ?? { sentences: [t.checks.away] };
    const checks = { findings, size, isWhole, warnings: sentences ?? answer?.warnings ?? [] };
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
