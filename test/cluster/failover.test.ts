/**
 * A lagging replica is promoted, which loses the senders' last writes. Living senders know them and write them again.
 * FAILURES=long takes both kinds of mail with several losses.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { senderName } from "../support/cluster.ts";
import { long } from "../support/long.ts";
import { type ReplicatedPostgres, startReplicatedPostgres } from "../support/replicated-postgres.ts";
import { openStage, outcome, type Stage, startCampaign, untilFinal } from "../support/stage.ts";

const RECIPIENTS = long ? 4_000 : 1_200;
/** Makes a thousand mails last five seconds. */
const DOT_MS = long ? 10 : 50;
const SETTLED_WITHIN_MS = 120_000;
const CASES: [kind: string, isTransactional: boolean, lostMs: number][] = [["transactional mail", true, 1_000]];
if (long) {
  CASES.push(["newsletter", false, 1_500], ["newsletter", false, 300], ["transactional mail", true, 300]);
}

jest.setTimeout(600_000);

let database: ReplicatedPostgres;
let stage: Stage;
beforeEach(async () => {
  database = await startReplicatedPostgres();
  stage = await openStage(2, { databaseUrl: database.url, dotMs: DOT_MS });
});
afterEach(async () => {
  await stage?.stop();
  await database?.stop();
});

test.each(CASES)(
  "%s (transactional: %s) reaches everybody once and ends after a failover that loses %i ms",
  async (_kind, isTransactional, lostMs) => {
    const sender = stage.cluster.processes.get(senderName(1))!;
    expect(sender.child.output()).toContain("PostgreSQL replicates asynchronously");
    const metrics = await (await fetch(`${sender.healthUrl}/metrics`)).text();
    expect(metrics).toContain('flockmail_database_replication{mode="asynchronous"} 1');
    const id = await startCampaign(stage, RECIPIENTS, { isTransactional });
    await stage.sink.received(RECIPIENTS * 0.2, SETTLED_WITHIN_MS);
    database.stopReplicating();
    const before = stage.sink.accepted;
    await sleep(lostMs);
    expect(stage.sink.accepted).toBeGreaterThan(before);
    await database.failOver();
    const campaign = await untilFinal(stage, id, SETTLED_WITHIN_MS);
    const counts = await outcome(stage, id);
    expect({ ...counts, doubled: stage.sink.doubled.length }).toMatchObject({
      sent: RECIPIENTS,
      queued: 0,
      unknown: 0,
      doubled: 0,
    });
    expect(campaign).toMatchObject({ status: "completed", sent_count: RECIPIENTS, failed_count: 0 });
  },
);
