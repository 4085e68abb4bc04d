/**
 * A result that PostgreSQL refuses permanently is reported, its recipient accounted for, and no other result waits for
 * it.
 */
import { query } from "../../../models/database/db.ts";
import { readDatabaseState } from "../../../models/database/history.ts";
import { recoverLeases } from "../../../services/smtp-sender/claim/recover-leases.ts";
import { useSending } from "../../support/sending.ts";

const REFUSED_SEQ = 37;
const RECIPIENTS = 100;

const sending = useSending();
afterEach(() => query("alter table sent_emails drop constraint refused"));

/** A campaign with one result that violates the constraint, and an engine that reports. */
async function sendAgainst(condition: string, recipients = RECIPIENTS) {
  await query(`alter table sent_emails add constraint refused check (seq <> ${REFUSED_SEQ} or ${condition}) not valid`);
  const server = await sending.startServer();
  const companyId = await sending.company();
  const smtpConfigId = await sending.smtpConfig(companyId, server);
  const id = await sending.campaign({ companyId, smtpConfigId, recipients, chunk: 50 });
  const errors: { text: string; data: Record<string, unknown> }[] = [];
  const log = { error: (text: string, data?: object) => void errors.push({ text, data: { ...data } }) };
  const engine = sending.engine({ leaseMs: 1_000, log });
  return { id, errors, server, engine };
}

const campaignIs = (id: string, status: string) =>
  sending.until(
    () => sending.states(id),
    (states) => states[status] === RECIPIENTS - 1,
  );

test("a text that cannot be stored: the recipient is recorded without it", async () => {
  const { id, errors, server } = await sendAgainst("smtp_response is null");
  expect(await sending.finished(id)).toMatchObject({ status: "completed", sent_count: RECIPIENTS });
  expect(server.doubled).toEqual([]);
  expect(errors).toEqual([
    {
      text: expect.stringMatching(/refused a result: stored without/),
      data: expect.objectContaining({ campaignId: id, seq: REFUSED_SEQ, status: "sent" }),
    },
  ]);
});

test("a state that cannot be stored: all others are recorded, and the recipient ends as in doubt", async () => {
  const { id, errors, server, engine } = await sendAgainst("status not in (2, 3, 4)");
  await campaignIs(id, "sent");
  expect(errors).toEqual([
    {
      text: expect.stringMatching(/refused a result: its recipient ends as in doubt/),
      data: expect.objectContaining({ campaignId: id, seq: REFUSED_SEQ }),
    },
  ]);
  await sending.until(
    async () => recoverLeases("another sender", (await readDatabaseState()).at),
    (freed) => freed.some(({ campaign_id }) => campaign_id === id),
  );
  expect(await sending.states(id)).toEqual({ sent: RECIPIENTS - 1, unknown: 1 });
  expect(await sending.finished(id)).toMatchObject({ status: "partial", sent_count: RECIPIENTS - 1, failed_count: 1 });
  expect(server.doubled).toEqual([]);
  await sending.until(
    async () => engine.budget.held,
    (held) => held === 0,
  );
});
