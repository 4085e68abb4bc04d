/**
 * Tests the delivery promises under random faults and mixed load: every process is behind proxies that can silence each
 * link; processes and servers are killed, frozen and stopped. Lasts CHAOS_MINUTES (30) and prints CHAOS_SEED, which is
 * random by default. A seed repeats faults and times, but not what each fault hits.
 */
import { account, settled } from "./account.ts";
import { type AppliedFault, runFaults } from "./faults.ts";
import { Ledger } from "./ledger.ts";
import { type Customers, Load, openCustomers } from "./load.ts";
import { planFaults, planSeeds } from "./plan.ts";
import { broken, type Run, reportText } from "./report.ts";
import { openScene, type Scene } from "./scene.ts";
import { type Watched, watch } from "./watch.ts";

const seeds = [Number(process.env.CHAOS_SEED ?? Date.now() % 1_000_000)];
const durationMs = Number(process.env.CHAOS_MINUTES ?? 30) * 60_000;
const LONGEST_MS = 25_000;
const minutes = (seeds.length * durationMs) / 60_000;
const SETTLED_WITHIN_MS = 240_000;

jest.setTimeout(minutes * 60_000 + 2 * SETTLED_WITHIN_MS + 120_000);

let scene: Scene;
let customers: Customers;
beforeAll(async () => {
  scene = await openScene();
  customers = await openCustomers(scene);
});
afterAll(() => scene?.stop());

const say = (text: string) => void process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);

async function run(): Promise<Run> {
  const ledger = new Ledger();
  scene.hookReceived = (event) => ledger.hookReceived(event);
  scene.deaths.length = 0;
  const watching = watch(scene, ledger, customers.plain);
  const load = new Load(scene, ledger, customers);
  const plan = planSeeds(seeds, { durationMs, longestMs: LONGEST_MS });
  say(`CHAOS_SEED=${seeds}: ${plan.length} faults in ${minutes.toFixed(1)} minutes`);
  let applied: AppliedFault[];
  let settledAfterMs: number;
  let missing: string[];
  let watched: Watched;
  try {
    applied = await runFaults(scene, plan, say);
    const healedMs = Date.now();
    missing = await scene.whole();
    await load.stop(SETTLED_WITHIN_MS);
    await settled(scene, SETTLED_WITHIN_MS);
    settledAfterMs = Date.now() - healedMs;
  } finally {
    await load.stop(0);
    watched = await watching.stop();
  }
  const { worstLagMs: lagMs } = watched;
  const counted = await account(scene, ledger, customers, { lagMs });
  return {
    seeds,
    minutes,
    applied,
    ledger,
    watched,
    account: counted,
    settledAfterMs,
    missing,
    deaths: [...scene.deaths],
  };
}

test(`random faults during a mixed load (seed ${seeds}) lose no mail, send no marketing mail twice and exceed no limit`, async () => {
  const done = await run();
  process.stdout.write(reportText(done));
  expect(broken(done)).toEqual([]);
});

test("a seed always gives the same faults, and another seed gives others", () => {
  const plan = (seed: number) => planFaults({ seed, durationMs: 600_000, longestMs: LONGEST_MS });
  expect(plan(7)).toEqual(plan(7));
  expect(plan(8)).not.toEqual(plan(7));
  expect(new Set(plan(7).map(({ kind }) => kind)).size).toBeGreaterThan(8);
});
