/**
 * The delivery promises with real processes and servers that are killed, stopped and frozen during a campaign.
 * FAILURES=long (`npm run test:failures`) takes 20,000 recipients, full-length outages, and cases that
 * smtp-sender/crash.test.ts covers faster: everything killed, a frozen sender, senders stopped one after the other.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { senderName } from "../support/cluster.ts";
import { long } from "../support/long.ts";
import { startNats, startRedis } from "../support/servers.ts";
import { MAX_IN_DOUBT, openStage, outcome, type Stage, startCampaign, untilFinal } from "../support/stage.ts";

const RECIPIENTS = long ? 20_000 : 1_000;
/** Makes a thousand mails last three seconds. */
const DOT_MS = long ? 10 : 50;
const SETTLED_WITHIN_MS = long ? 180_000 : 120_000;
const SENDERS = long ? 3 : 2;
/** Limited, so that a machine with slow restarts still finishes. */
const KILLS = long ? 120 : 4;
const senders = Array.from({ length: SENDERS }, (_, n) => senderName(n + 1));

jest.setTimeout(long ? 600_000 : 300_000);

let stage: Stage;
beforeAll(async () => {
  stage = await openStage(SENDERS, { dotMs: DOT_MS, throughProxy: long ? senders : [] });
});
afterAll(() => stage?.stop());
// Leftovers of a failed test must not be sent during the next one.
afterEach(() => stage?.query("update campaigns set error = 'abandoned' where status in ('pending', 'sending')"));
beforeEach(async () => {
  await stage.cluster.joined();
  stage.sink.counts.clear();
  stage.sink.accepted = 0;
});

const processOf = (name: string) => stage.cluster.processes.get(name)!;
/** Waits until this share of the running campaign has been sent. */
const leftFor = (share: number) => stage.sink.received(Math.floor(RECIPIENTS * share), SETTLED_WITHIN_MS);

/** Asserts that every recipient has exactly one final state, the counts agree, and nobody got a mail twice. */
async function expectAllAccounted(id: string, { unknownAtMost }: { unknownAtMost: number }): Promise<number> {
  const read = async () => ({
    campaign: await untilFinal(stage, id, SETTLED_WITHIN_MS),
    counts: await outcome(stage, id),
  });
  let { campaign, counts } = await read();
  // A frozen sender reports late, perhaps between the two reads; it queues unsent recipients again.
  const isBetween = () => campaign.sent_count !== counts.sent || counts.queued + counts.sending > 0;
  for (let n = 0; n < 20 && isBetween(); n++) ({ campaign, counts } = await read());
  expect(counts).toMatchObject({ queued: 0, sending: 0, failed: 0, bounced: 0, suppressed: 0 });
  expect(counts.sent + counts.unknown).toBe(RECIPIENTS);
  expect(counts.unknown).toBeLessThanOrEqual(unknownAtMost);
  expect(campaign).toMatchObject({
    total_emails: RECIPIENTS,
    sent_count: counts.sent,
    failed_count: counts.unknown,
    error: null,
  });
  expect(stage.sink.doubled).toEqual([]);
  expect(stage.sink.counts.size).toBeGreaterThanOrEqual(counts.sent);
  return counts.unknown;
}

/** Only recipients in doubt may get a second copy, with the same Message-ID. */
async function expectResumeReachesAll(id: string, unknown: number): Promise<void> {
  // The campaign continues by itself if a frozen sender reports late that a mail was not sent.
  const goesOn = (error: Error) => {
    if (!/This one is (pending|sending)/.test(error.message)) throw error;
  };
  if (unknown > 0) await stage.api("POST", `/api/emails/campaigns/${id}/resume/`).catch(goesOn);
  const campaign = await untilFinal(stage, id, SETTLED_WITHIN_MS);
  expect(campaign).toMatchObject({ status: "completed", sent_count: RECIPIENTS, failed_count: 0 });
  expect(stage.sink.counts.size).toBe(RECIPIENTS);
  expect(stage.sink.doubled.length).toBeLessThanOrEqual(unknown);
}

test("killing a random sender every second loses no mail and sends none twice, and resume reaches everyone", async () => {
  const id = await startCampaign(stage, RECIPIENTS);
  let kills = 0;
  const restarts: Promise<unknown>[] = [];
  const finished = untilFinal(stage, id, SETTLED_WITHIN_MS).then(() => true);
  await leftFor(0.05);
  do {
    const name = senders[Math.floor(Math.random() * SENDERS)]!;
    processOf(name).child.signal("SIGKILL");
    kills++;
    restarts.push(stage.cluster.start(name).catch(() => {}));
  } while (!(await Promise.race([finished, sleep(1_000, false)])) && kills < KILLS);
  await Promise.all(restarts);
  expect(kills).toBeGreaterThan(1);
  const unknown = await expectAllAccounted(id, { unknownAtMost: kills * MAX_IN_DOUBT });
  await expectResumeReachesAll(id, unknown);
});

test("killing and restarting PostgreSQL loses no mail", async () => {
  const id = await startCampaign(stage, RECIPIENTS);
  await leftFor(0.3);
  stage.killPostgres();
  await sleep(1_000);
  await stage.startPostgres();
  const unknown = await expectAllAccounted(id, { unknownAtMost: SENDERS * MAX_IN_DOUBT });
  await expectResumeReachesAll(id, unknown);
});

test("senders wait while Redis is unavailable, and nothing fails", async () => {
  const id = await startCampaign(stage, RECIPIENTS);
  await leftFor(0.3);
  await stage.redis.stop();
  await sleep(long ? 10_000 : 2_000);
  stage.redis = await startRedis({ own: true, port: Number(new URL(stage.redis.url).port) });
  await expectAllAccounted(id, { unknownAtMost: 0 });
});

test("senders continue while NATS is unavailable", async () => {
  const id = await startCampaign(stage, RECIPIENTS);
  await leftFor(0.1);
  await stage.nats.stop();
  await expect(stage.api("GET", "/api/emails/templates/")).rejects.toThrow("was answered 503");
  // The rows are the jobs: the campaign ends even without events.
  if (long) await sleep(30_000);
  else await untilFinal(stage, id, SETTLED_WITHIN_MS);
  stage.nats = await startNats({ own: true, port: Number(new URL(stage.nats.url).port) });
  await expectAllAccounted(id, { unknownAtMost: 0 });
});

if (long) {
  test("killing every process while a campaign by time zone is written, and in each zone's hour, sends nothing twice and leaves nobody out", async () => {
    const zones = ["Etc/GMT-9", "UTC", "Etc/GMT+3", "Etc/GMT+6"];
    const names = [...stage.cluster.processes.keys()];
    const killAll = async () => {
      for (const name of names) processOf(name).child.signal("SIGKILL");
      await Promise.all(names.map((name) => stage.cluster.start(name)));
    };
    const written = async () =>
      Number(
        (
          await stage.query<{ n: string }>(
            "select count(*) n from sent_emails e join campaigns c on c.no = e.campaign_no where c.id = $1",
            [id],
          )
        )[0]!.n,
      );
    const id = await startCampaign(stage, RECIPIENTS, { timezones: zones });
    // The first slice has 500 recipients.
    for (const end = Date.now() + 60_000; (await written()) === 0 && Date.now() < end; ) await sleep(5);
    await killAll();
    for (let zone = 1; zone <= zones.length; zone++) {
      if (zone > 1) {
        // Lets three hours pass: the next zone's hour comes, and no other.
        await stage.query(
          "update send_chunks set due_at = due_at - interval '3 hours' where campaign_id = $1 and state = 3",
          [id],
        );
      }
      await leftFor((zone - 0.5) / zones.length);
      await killAll();
      // Only recipients leased by the killed sender are in doubt.
      const isOver = async () => {
        const { sent, unknown } = await outcome(stage, id);
        return sent + unknown >= (RECIPIENTS / zones.length) * zone;
      };
      for (const end = Date.now() + SETTLED_WITHIN_MS; !(await isOver()); await sleep(100)) {
        if (Date.now() > end) throw new Error(`Zone ${zone}: ${JSON.stringify(await outcome(stage, id))}`);
      }
      expect(stage.sink.counts.size).toBeLessThanOrEqual((RECIPIENTS / zones.length) * zone);
    }
    const unknown = await expectAllAccounted(id, { unknownAtMost: zones.length * SENDERS * MAX_IN_DOUBT });
    await expectResumeReachesAll(id, unknown);
  });

  test("killing and restarting every process at once loses no mail", async () => {
    const id = await startCampaign(stage, RECIPIENTS);
    await leftFor(0.3);
    const names = [...stage.cluster.processes.keys()];
    for (const name of names) processOf(name).child.signal("SIGKILL");
    await Promise.all(names.map((name) => stage.cluster.start(name)));
    const unknown = await expectAllAccounted(id, { unknownAtMost: SENDERS * MAX_IN_DOUBT });
    await expectResumeReachesAll(id, unknown);
  });

  const AWAY_MS = 90_000;
  const OUTAGES: [string, isTransactional: boolean, begin: () => void, end: () => Promise<void>][] = [
    ["gone", false, () => stage.killPostgres(), () => stage.startPostgres()],
    ["silent", false, () => stage.databaseProxy.hold(), () => stage.databaseProxy.pass()],
    ["silent", true, () => stage.databaseProxy.hold(), () => stage.databaseProxy.pass()],
  ];
  test.each(OUTAGES)(
    "PostgreSQL %s for 90 s (transactional: %s) leaves nobody in doubt, and nobody gets two mails",
    async (_how, isTransactional, begin, end) => {
      const id = await startCampaign(stage, RECIPIENTS, { isTransactional });
      await leftFor(0.3);
      begin();
      await sleep(AWAY_MS);
      await end();
      await expectAllAccounted(id, { unknownAtMost: 0 });
    },
  );

  test("a sender frozen past its lease writes and sends nothing more when it wakes", async () => {
    const id = await startCampaign(stage, RECIPIENTS);
    await leftFor(0.2);
    processOf(senders[0]!).child.signal("SIGSTOP");
    // Waits past the lease and past the other senders' check for expired leases.
    await sleep(8_000);
    processOf(senders[0]!).child.signal("SIGCONT");
    const unknown = await expectAllAccounted(id, { unknownAtMost: MAX_IN_DOUBT });
    await expectResumeReachesAll(id, unknown);
  });

  test("stopping one sender after the other with SIGTERM leaves nothing in doubt and sends nothing twice", async () => {
    const id = await startCampaign(stage, RECIPIENTS);
    await leftFor(0.1);
    for (const name of senders) {
      processOf(name).child.signal("SIGTERM");
      expect(await processOf(name).child.ended).toBe(0);
      await stage.cluster.start(name);
    }
    await expectAllAccounted(id, { unknownAtMost: 0 });
    expect(stage.sink.counts.size).toBe(RECIPIENTS);
  });
}
