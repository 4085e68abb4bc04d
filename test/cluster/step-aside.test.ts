/**
 * One of two nodes of each service is cut off from PostgreSQL, but not from NATS: the API continues without it.
 * FAILURES=long tests every kind of partition, five rounds each.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { layoutTogether } from "../support/cluster.ts";
import { long } from "../support/long.ts";
import { openStage, type Stage } from "../support/stage.ts";

const CUT_MS = 8_000;
const AFTERWARDS_MS = 4_000;
/** Calls in progress may fail or be repeated; calls that begin this long after the cut must not notice. */
const FAILOVER_MS = 4_000;
/** Allows for a machine under load. */
const LONGEST_ERROR_MS = 6_000;
const ASK_EVERY_MS = long ? 50 : 100;
const ASK_TIMEOUT_MS = 5_000;

jest.setTimeout(600_000);

let stage: Stage;
beforeAll(async () => {
  const { gateway, core } = layoutTogether;
  stage = await openStage(1, { layout: { gateway, "core-1": core, "core-2": core }, throughProxy: ["core-2"] });
});
afterAll(() => stage?.stop());
afterEach(() => stage.databaseProxy.pass());

interface Answer {
  fromMs: number;
  toMs: number;
  status: number;
}

/** Sends requests one after the other until `over`: creates a list (write), or lists campaigns (read). */
async function ask(kind: "read" | "write", over: AbortSignal): Promise<Answer[]> {
  const answers: Answer[] = [];
  const path = kind === "read" ? "/api/emails/campaigns/" : "/api/emails/lists/";
  for (let n = 0; !over.aborted; n++) {
    const fromMs = performance.now();
    const status = await fetch(stage.cluster.url + path, {
      method: kind === "read" ? "GET" : "POST",
      headers: { ...stage.headers, "content-type": "application/json" },
      ...(kind === "write" ? { body: JSON.stringify({ name: `${fromMs}-${n}` }) } : {}),
      signal: AbortSignal.timeout(ASK_TIMEOUT_MS),
    }).then(
      async (response) => {
        await response.text();
        return response.status;
      },
      () => 0,
    );
    answers.push({ fromMs, toMs: performance.now(), status });
    await sleep(ASK_EVERY_MS);
  }
  return answers;
}

const failed = ({ status }: Answer) => status < 200 || status > 299;

/** The longest time from the first of consecutive failures to the next success. */
function longestErrorMs(answers: readonly Answer[]): number {
  let longest = 0;
  let sinceMs: number | undefined;
  for (const answer of answers) {
    if (failed(answer)) sinceMs ??= answer.fromMs;
    if (sinceMs !== undefined) longest = Math.max(longest, answer.toMs - sinceMs);
    if (!failed(answer)) sinceMs = undefined;
  }
  return longest;
}

const WAYS: Record<string, () => unknown> = {
  "bytes are swallowed": () => stage.databaseProxy.swallow(),
  "answers are swallowed": () => stage.databaseProxy.swallow("toClient"),
  "bytes are held": () => stage.databaseProxy.hold(),
  "connections are refused": () => stage.databaseProxy.refuse(),
};
const SHORT = ["bytes are swallowed"];
const CASES = Array.from({ length: long ? 5 : 1 }, (_, n) =>
  (long ? Object.keys(WAYS) : SHORT).map((way) => [way, n + 1] as const),
).flat();

test.each(CASES)("%s between one of two nodes and PostgreSQL: the API continues (round %i)", async (way) => {
  const over = new AbortController();
  const asking = [ask("read", over.signal), ask("read", over.signal), ask("write", over.signal)];
  await sleep(1_000);
  const cutMs = performance.now();
  await WAYS[way]!();
  await sleep(CUT_MS);
  const healedMs = performance.now();
  await stage.databaseProxy.pass();
  await sleep(AFTERWARDS_MS);
  over.abort();
  const all = await Promise.all(asking);

  const longest = Math.max(...all.map(longestErrorMs));
  const reads = [...all[0]!, ...all[1]!];
  const late = all.flat().filter((answer) => failed(answer) && answer.fromMs > cutMs + FAILOVER_MS);
  process.stdout.write(
    `${way}: errors for ${(longest / 1_000).toFixed(1)} s at most; ${reads.filter(failed).length} of ${reads.length} reads failed, ` +
      `${all[2]!.filter(failed).length} of ${all[2]!.length} writes\n`,
  );
  expect(healedMs - cutMs).toBeGreaterThan(FAILOVER_MS);
  expect(longest).toBeLessThan(LONGEST_ERROR_MS);
  expect(late).toEqual([]);
});
