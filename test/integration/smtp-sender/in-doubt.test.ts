/** MAX_IN_DOUBT applies in the database: the number of mails that a crash at any moment leaves in doubt. */
import { query, queryOne, transaction } from "../../../models/database/db.ts";
import { readDatabaseState } from "../../../models/database/history.ts";
import { recoverLeases } from "../../../services/smtp-sender/claim/recover-leases.ts";
import { plainMails, useSending } from "../../support/sending.ts";

const MAX_IN_DOUBT = 20;

const sending = useSending();

/** Recipients that would be in doubt if all senders died now. */
const inDoubt = async () =>
  (await queryOne<{ n: number }>(
    `select count(*)::int n from campaigns k join sent_emails e on e.campaign_no = k.no
     join send_chunks c on c.campaign_id = k.id and e.seq between c.lo and c.hi
     where c.state = 1 and e.seq <= c.marked_to and e.status = 0 and e.next_attempt_at is null`,
  ))!.n;

async function campaign(options: { hang?: boolean }, recipients: number) {
  const server = await sending.startServer({
    answer: ({ verb }) => (options.hang && verb === "DOT" ? { hang: true } : undefined),
  });
  const companyId = await sending.company();
  const smtpConfigId = await sending.smtpConfig(companyId, server);
  return sending.campaign({ companyId, smtpConfigId, recipients, chunk: 50 });
}

test("requeued recipients that were marked keep their budget until the lease is returned", async () => {
  const broken = await campaign({}, 50);
  const seen: number[] = [];
  let locked = () => {};
  const rendering = new Promise<void>((done) => (locked = done));
  let fail = () => {};
  const failure = new Promise<void>((done) => (fail = done));
  const engine = sending.engine({
    maxInDoubt: MAX_IN_DOUBT,
    render: async (campaignId, rows) => {
      if (campaignId !== broken) return plainMails(campaignId, rows);
      locked();
      await failure;
      throw new Error("The renderer is away");
    },
  });
  await rendering;
  await sending.until(inDoubt, (n) => n > 0);
  const marked = await inDoubt();
  // The lease cannot be given back while its row is locked.
  await transaction(async (client) => {
    await client.query("select from send_chunks where campaign_id = $1 for update", [broken]);
    fail();
    await campaign({ hang: true }, 200);
    engine.checkForWork();
    await sending.until(inDoubt, (n) => n > marked);
    for (let n = 0; n < 20; n++) {
      seen.push(await inDoubt());
      await new Promise((done) => setTimeout(done, 25));
    }
    expect(engine.budget.held).toBeGreaterThanOrEqual(Math.max(...seen));
  });
  expect(Math.max(...seen)).toBeLessThanOrEqual(MAX_IN_DOUBT);
  // Requeued recipients return their budget.
  await sending.until(
    () => queryOne<{ state: number }>("select state from send_chunks where campaign_id = $1", [broken]),
    (chunk) => chunk!.state === 0,
  );
});

test("no statement of a sender at full speed leaves more in doubt than the budget", async () => {
  // Seen from within each statement that moves a mark, at its end.
  await query(`create table seen (n int not null);
    create function count_in_doubt() returns trigger language plpgsql as $$ begin
      insert into seen select count(*) from sent_emails e
        join campaigns on campaigns.no = e.campaign_no
        join send_chunks c on c.campaign_id = campaigns.id and e.seq between c.lo and c.hi
        where c.state = 1 and e.seq <= c.marked_to and e.status = 0 and e.next_attempt_at is null;
      return null;
    end $$;
    create trigger seen after update on send_chunks for each statement execute function count_in_doubt()`);
  const ids = [await campaign({}, 400), await campaign({}, 400)];
  const engine = sending.engine({ maxInDoubt: MAX_IN_DOUBT });
  for (const id of ids) expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 400 });
  const seen = (await query<{ n: number }>("select n from seen")).map(({ n }) => n);
  expect(seen.length).toBeGreaterThan(20);
  // Nearly all of it is used: recipients whose results are written with the mark free budget at once.
  expect(Math.max(...seen)).toBeGreaterThan(MAX_IN_DOUBT / 2);
  expect(Math.max(...seen)).toBeLessThanOrEqual(MAX_IN_DOUBT);
  await sending.until(
    async () => engine.budget.held,
    (held) => held === 0,
  );
});

test("recovery reports for each campaign how many of its own recipients are in doubt", async () => {
  const [few, many, none] = [await campaign({}, 50), await campaign({}, 50), await campaign({}, 50)];
  for (const [id, marked] of [
    [few, 2],
    [many, 7],
    [none, 0],
  ]) {
    await query(
      "update send_chunks set state = 1, owner = 'dead', lease_until = now() - interval '1 minute', marked_to = $2 where campaign_id = $1",
      [id, marked],
    );
  }
  const recovered = await recoverLeases("alive", (await readDatabaseState()).at);
  const doubtfulOf = (id: string) => recovered.find(({ campaign_id }) => campaign_id === id)?.doubtful;
  expect([few, many, none].map(doubtfulOf)).toEqual([2, 7, 0]);
});

/** State after a failover whose lost results cannot be rewritten: two of these recipients, and every chunk closed. */
async function leftInClosedChunks(transactional: boolean) {
  const server = await sending.startServer();
  const companyId = await sending.company();
  const smtpConfigId = await sending.smtpConfig(companyId, server);
  const id = await sending.campaign({ companyId, smtpConfigId, recipients: 10, transactional });
  await query(
    "update sent_emails set status = 2, attempts = 1 where campaign_no = (select no from campaigns where id = $1) and seq > 3",
    [id],
  );
  // This recipient waits for its next attempt, as it should.
  await query(
    "update sent_emails set next_attempt_at = now() + interval '1 hour', attempts = 1 where campaign_no = (select no from campaigns where id = $1) and seq = 3",
    [id],
  );
  await query("update send_chunks set state = 2, marked_to = hi where campaign_id = $1", [id]);
  await query("update campaigns set status = 'sending', sent_count = 7, updated_at = now() where id = $1", [id]);
  return { id, server };
}

test("newsletter recipients left queued in closed chunks become unknown, those waiting for a retry do not", async () => {
  const { id, server } = await leftInClosedChunks(false);
  sending.engine({ leaseMs: 400 });
  await sending.until(
    () => sending.states(id),
    ({ unknown }) => unknown === 2,
  );
  expect(await sending.states(id)).toEqual({ sent: 7, unknown: 2, queued: 1 });
  expect(await sending.counts(id)).toMatchObject({ status: "sending", sent_count: 7, failed_count: 2 });
  await query(
    "update sent_emails set next_attempt_at = now() where campaign_no = (select no from campaigns where id = $1) and seq = 3",
    [id],
  );
  expect(await sending.finished(id)).toMatchObject({ status: "partial", sent_count: 8, failed_count: 2 });
  expect(server.accepted).toBe(1);
});

test("transactional mail left queued in a closed chunk is sent", async () => {
  const { id, server } = await leftInClosedChunks(true);
  await query(
    "update sent_emails set next_attempt_at = now() where campaign_no = (select no from campaigns where id = $1) and seq = 3",
    [id],
  );
  sending.engine({ leaseMs: 400 });
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: 10, failed_count: 0 });
  expect(server.accepted).toBe(3);
});
