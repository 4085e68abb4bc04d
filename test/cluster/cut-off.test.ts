/**
 * A living sender is cut off from PostgreSQL, but not from the other processes; the network fails silently.
 * FAILURES=long takes five rounds, also with newsletters.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { senderName } from "../support/cluster.ts";
import { long } from "../support/long.ts";
import { openStage, outcome, type Stage, startCampaign, untilFinal } from "../support/stage.ts";

const ROUNDS = long ? 5 : 1;
const RECIPIENTS = long ? 1_500 : 700;
const SETTLED_WITHIN_MS = 120_000;
/** The stage's leases last 3 s, and other senders check for expired ones every 1.5 s. */
const PAST_THE_LEASE_MS = 8_000;

jest.setTimeout(600_000);

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(2, { throughProxy: [senderName(1)], dotMs: 20 });
});
afterAll(() => stage?.stop());
afterEach(async () => {
  await stage.databaseProxy.pass();
  await stage.query("update campaigns set error = 'abandoned' where status in ('pending', 'sending')");
});
beforeEach(() => {
  stage.sink.counts.clear();
  stage.sink.accepted = 0;
});

async function sendWhileCutOff(isTransactional: boolean): Promise<string> {
  const id = await startCampaign(stage, RECIPIENTS, { isTransactional });
  await stage.sink.received(RECIPIENTS * 0.2, SETTLED_WITHIN_MS);
  stage.databaseProxy.hold();
  await sleep(PAST_THE_LEASE_MS);
  await stage.databaseProxy.pass();
  return id;
}

async function untilAllSent(id: string): Promise<void> {
  await untilFinal(stage, id, SETTLED_WITHIN_MS);
  const counts = await outcome(stage, id);
  const doubled = stage.sink.doubled.length;
  expect({ ...counts, doubled }).toMatchObject({ sent: RECIPIENTS, unknown: 0, doubled: 0 });
  expect(await untilFinal(stage, id, SETTLED_WITHIN_MS)).toMatchObject({
    status: "completed",
    sent_count: RECIPIENTS,
    failed_count: 0,
  });
}

const KINDS: [kind: string, isTransactional: boolean][] = [["transactional mail", true]];
if (long) KINDS.push(["newsletter", false]);
const CASES = Array.from({ length: ROUNDS }, (_, n) => KINDS.map((kind) => [n + 1, ...kind] as const)).flat();

test.each(CASES)(
  "round %i: a sender cut off from PostgreSQL past its lease doubles no %s and leaves nobody in doubt",
  async (_round, _kind, isTransactional) => {
    await untilAllSent(await sendWhileCutOff(isTransactional));
  },
);
