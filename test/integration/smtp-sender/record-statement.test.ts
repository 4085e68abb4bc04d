/** Reads the state after the statement that records accepted emails. */
import { query, queryOne } from "../../../models/database/db.ts";
import { newId } from "../../../services/lib/ids.ts";
import { recordStatement } from "../../../services/smtp-sender/delivery/record-statement.ts";
import type {
  ChunkUpdate,
  LeasedChunk,
  RecordedResult,
} from "../../../services/smtp-sender/delivery/recorded-result.ts";
import type { Answer } from "../../../services/smtp-sender/delivery/result-writer.ts";
import { PinnedConnection } from "../../../services/smtp-sender/engine/pinned-connection.ts";
import { useSending } from "../../support/sending.ts";

const OWNER = "sender";
const CHUNK = 50;

const NO = "(select no from campaigns where id = $1)";

const sending = useSending();
let connection: PinnedConnection;
let companyId: string;
let smtpConfigId: string;

beforeEach(async () => {
  connection = new PinnedConnection();
  companyId = await sending.company();
  smtpConfigId = await sending.smtpConfig(companyId, { host: "127.0.0.1", port: 9 });
});
afterEach(() => connection.close());

/** A campaign of `chunks` chunks that are leased by OWNER, and the row of each recipient. */
async function leased(chunks: number) {
  const id = await sending.campaign({ companyId, smtpConfigId, recipients: chunks * CHUNK, chunk: CHUNK });
  await query(
    `update send_chunks set state = 1, owner = $2, fence = 3, lease_until = now() + interval '10 seconds', marked_to = hi - 1
     where campaign_id = $1`,
    [id, OWNER],
  );
  const held = Array.from({ length: chunks }, (_, i): LeasedChunk => {
    const lo = i * CHUNK + 1;
    const ids = { campaign_id: id, campaignId: id, companyId };
    return { ...ids, no: i + 1, lo, hi: lo + CHUNK - 1, fence: 3, markedTo: lo + CHUNK - 1, validFrom: 0 };
  });
  return { id, chunks: held, rows: await sending.recipients(id) };
}

const mailOf = ({ id, campaign_no, email }: { id: string; campaign_no: number; email: string }) => ({
  campaignNo: campaign_no,
  id,
  email,
  messageId: id,
});

type Campaign = Awaited<ReturnType<typeof leased>>;

const accepted = ({ id, chunks, rows }: Campaign, seq: number): RecordedResult => ({
  companyId,
  campaignId: id,
  chunk: chunks[Math.ceil(seq / CHUNK) - 1]!,
  seq,
  mail: mailOf(rows[seq - 1]!),
  attempts: 0,
  copyNo: null,
  outcome: {
    status: "sent",
    error: null,
    reply: { code: 250, enhanced: "2.0.0", text: `250 2.0.0 Queued "as" \\${seq}` },
  },
  delayMs: null,
  copies: [],
  by: { recorded: () => {} },
});

const updatesOf = (chunks: readonly LeasedChunk[]) =>
  new Map(
    chunks.map((chunk): [LeasedChunk, ChunkUpdate] => [
      chunk,
      { done: chunk.no === 2, markedTo: chunk.markedTo, resolve: [] },
    ]),
  );

async function record(results: readonly RecordedResult[], chunks: readonly LeasedChunk[]) {
  const { name, text, values } = recordStatement(results, updatesOf(chunks), { owner: OWNER, leaseMs: 60_000 });
  const [answer] = await connection.run<Answer>(name, text, values);
  return { name, answer: answer! };
}

/** Returns everything that a statement may have written for a campaign, without ids and times. */
const left = (id: string) =>
  queryOne<{ rows: unknown }>(
    `select json_build_object(
      'campaign', (select json_build_array(sent_count, failed_count, status, error, repeated_refusal, blocks_in_a_row)
        from campaigns where id = $1),
      'chunks', (select json_agg(json_build_array(no, state, marked_to, owner, fence, lease_until > now() + interval '20 seconds')
          order by no) from send_chunks where campaign_id = $1),
      'mails', (select json_agg(json_build_array(seq, status, attempts, error, smtp_response, next_attempt_at, sent_at is not null,
          bounced_at) order by seq) from sent_emails where campaign_no = ${NO})) as rows`,
    [id],
  );

const deliveries = async () => {
  const ofMail = "select payload ->> 'sent_email_id' as id from webhook_deliveries where company_id = $1";
  return (await query<{ id: string }>(ofMail, [companyId])).map(({ id }) => id);
};

const addWebhook = (of: string, events: string[], disabled = false) =>
  query(
    `insert into webhook_endpoints (id, company_id, url, events, secret_sealed, disabled_at)
     values ($1, $2, 'https://example.com', $3, '', case when $4 then now() end)`,
    [newId(), of, events, disabled],
  );

test("it writes rows, counters, leases and marks if the lease is held, and nothing the second time", async () => {
  const campaign = await leased(4);
  const { id, chunks } = campaign;
  await query("update campaigns set repeated_refusal = '550 no', blocks_in_a_row = 7 where id = $1", [id]);
  // Another owner has leased the third chunk; one recipient is settled, one waits individually.
  await query("update send_chunks set fence = 4, owner = 'other' where campaign_id = $1 and no = 3", [id]);
  await query(`update sent_emails set status = 5 where campaign_no = ${NO} and seq = 2`, [id]);
  await query(`update sent_emails set next_attempt_at = '2030-01-01Z' where campaign_no = ${NO} and seq = 3`, [id]);
  const results = [1, 2, 3, 4, 60, 61, 110, 111, 199].map((seq) => accepted(campaign, seq));
  const first = await record(results, chunks);
  expect(first.answer.leases!.map(([campaignId, no]) => [campaignId === id, no]).sort()).toEqual(
    [1, 2, 4].map((no) => [true, no]),
  );
  expect(first.answer.written).toBe(5);
  const before = await left(id);
  expect(JSON.stringify(before)).toContain('"campaign":[5,0,"pending",null,null,0]');
  // The second chunk is closed by now.
  const again = await record(results, chunks);
  expect([again.answer.written, again.answer.leases!.length]).toEqual([0, 2]);
  expect(await left(id)).toEqual(before);
});

test("it counts for each of several campaigns, and reports which of them were stopped by an error", async () => {
  const [one, other] = [await leased(1), await leased(2)];
  await query("update campaigns set error = 'Stopped.' where id = $1", [other.id]);
  const results = [accepted(one, 1), accepted(other, 1), accepted(other, 51), accepted(other, 52)];
  const { answer } = await record(results, [...other.chunks, ...one.chunks]);
  expect([answer.written, answer.stopped]).toEqual([4, [[other.id, "Stopped."]]]);
  expect([(await sending.counts(one.id)).sent_count, (await sending.counts(other.id)).sent_count]).toEqual([1, 3]);
});

test("leases and marks alone need no statement that reads recipients", async () => {
  const { id, chunks } = await leased(2);
  const { name, answer } = await record([], chunks);
  expect([name, answer.leases!.length, answer.written]).toEqual(["record-leases", 2, 0]);
  expect(await query("select state, marked_to from send_chunks where campaign_id = $1 order by no", [id])).toEqual([
    { state: 1, marked_to: 50 },
    { state: 2, marked_to: 100 },
  ]);
});

test.each([
  ["that wants to know", (of: string) => addWebhook(of, ["bounced", "delivered"]), true],
  ["for something else", (of: string) => addWebhook(of, ["bounced"]), false],
  ["that is disabled", (of: string) => addWebhook(of, ["delivered"], true), false],
])("it handles a company with a webhook %s", async (_which, add, wants) => {
  const campaign = await leased(1);
  await add(companyId);
  await addWebhook(await sending.company(), ["delivered"]);
  const { answer } = await record([accepted(campaign, 1)], campaign.chunks);
  expect(answer.webhook_company_ids).toEqual(wants ? [companyId] : null);
  expect(await deliveries()).toEqual(wants ? [campaign.rows[0]!.id] : []);
  expect(await sending.states(campaign.id)).toEqual({ sent: 1, queued: CHUNK - 1 });
});
