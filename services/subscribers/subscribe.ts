/** Public subscribe, and the confirmation of a double opt-in. */
import { type Client, query, queryOne, transaction } from "../../models/database/db.ts";
import { markResubscribed } from "../../models/statements/unsubscribe.ts";
import { call } from "../call.ts";
import type { Ctx } from "../lib/caller.ts";
import { config } from "../lib/config.ts";
import { gone, invalid, isServiceError, missingObject, notFound, subscriberLimitReached } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { personToken, readPersonToken } from "../lib/tokens/person-token.ts";
import { addToLists, missing } from "./members.ts";
import { roomFor, subscriberLimit } from "./plan-limit.ts";
import type { Status } from "./subscriber.ts";

const CONFIRM_WITHIN_DAYS = 7;
const CONFIRMATIONS_A_DAY = 5;
const DAY_MS = 86_400_000;

export interface Wish {
  company_id: string;
  email: string;
  first_name?: string;
  last_name?: string;
  list_id?: string;
}

interface Known {
  id: string;
  status: Status;
}

// Whoever types an address into a form is nobody in particular: names are filled in where they are blank, never changed.
const SAVE = `
  insert into subscribers as s (id, company_id, email, first_name, last_name, status) values ($2, $1, $3, $4, $5, $6)
  on conflict (company_id, email_key) do update set
    first_name = coalesce(nullif(s.first_name, ''), excluded.first_name),
    last_name = coalesce(nullif(s.last_name, ''), excluded.last_name)
  returning s.id, s.status`;

// One mail a minute for an address, few a day (the form is open to whoever wants to fill another's mailbox), and none
// where a block other than an unsubscribe holds. Who is active is asked about an unsubscribe that still holds (they were
// deleted and came back with an import), and about a list they are not on.
const ASK_TO_CONFIRM = `
  update subscribers set confirm_mailed_at = now(), updated_at = now(),
    status = case when status = 'active' and blocked_by(company_id, email) is null then status else 'unconfirmed' end
  where company_id = $1 and id = $2
    and (status in ('unconfirmed', 'unsubscribed') or (status = 'active' and (
      blocked_by(company_id, email) = 'unsubscribed' or ($3::uuid is not null and not exists (
        select from list_members m
        where m.company_id = $1 and m.list_id = $3 and m.subscriber_id = $2 and m.left_at is null)))))
    and (confirm_mailed_at is null or confirm_mailed_at < now() - interval '1 minute')
    and (select count(*) from sent_emails e join campaigns c on c.company_id = e.company_id and c.id = e.campaign_id
      where e.company_id = $1 and e.subscriber_id = $2 and c.is_internal
        and c.created_at > now() - interval '1 day') < ${CONFIRMATIONS_A_DAY}
    and coalesce(blocked_by(company_id, email), 'unsubscribed') = 'unsubscribed'
  returning id, status`;

const FORGET_MAIL = "update subscribers set confirm_mailed_at = null where company_id = $1 and id = $2";

async function save(client: Client, wish: Wish, status: Status, limit: number | null): Promise<Known> {
  const { company_id: companyId, first_name = "", last_name = "" } = wish;
  const email = wish.email.trim();
  const room = await roomFor(client, companyId, limit);
  if (room === 0) {
    const known = "select from subscribers where company_id = $1 and email_key = lower($2)";
    if (!(await queryOne(known, [companyId, email], client))) throw subscriberLimitReached(limit!);
  }
  return (await queryOne<Known>(
    SAVE,
    [companyId, newId(), email, first_name.trim(), last_name.trim(), status],
    client,
  ))!;
}

/**
 * Who must still be mailed a confirmation link, or undefined. A stranger's wish puts nobody who gets mail already on a
 * list: they may have left it, and only they can say so. Who gets none until confirming is on it at once.
 */
async function record(wish: Wish, doubleOptIn: boolean, limit: number | null): Promise<Known | undefined> {
  const { company_id: companyId } = wish;
  return transaction(async (client) => {
    const { id, status } = await save(client, wish, doubleOptIn ? "unconfirmed" : "active", limit);
    const atOnce = !doubleOptIn || status !== "active";
    if (wish.list_id && atOnce) await addToLists(client, companyId, [id], [wish.list_id]);
    if (doubleOptIn) return queryOne<Known>(ASK_TO_CONFIRM, [companyId, id, wish.list_id ?? null], client);
    await markResubscribed(client, { companyId, email: wish.email.trim() });
    return undefined;
  });
}

/** The same answer for a known and an unknown address. */
export async function subscribe(ctx: Ctx<Wish>) {
  const wish = ctx.params;
  const company = await queryOne<{ double_opt_in: boolean }>("select double_opt_in from companies where id = $1", [
    wish.company_id,
  ]);
  if (!company) throw notFound();
  if (wish.list_id && (await missing("lists", wish.company_id, [wish.list_id])).length > 0) {
    throw invalid({ list_id: [missingObject(wish.list_id)] });
  }
  const unconfirmed = await record(wish, company.double_opt_in, await subscriberLimit(ctx, wish.company_id));
  if (unconfirmed) {
    await mailConfirmation(ctx, wish.company_id, unconfirmed.id, wish.list_id);
  }
  return { detail: company.double_opt_in ? "Thank you. Please confirm by the link in your mail." : "Thank you." };
}

async function mailConfirmation(ctx: Ctx, companyId: string, subscriberId: string, listId?: string): Promise<void> {
  const until = new Date(Date.now() + CONFIRM_WITHIN_DAYS * DAY_MS);
  const token = personToken("confirm", companyId, subscriberId, until, listId);
  const confirm_url = `${config().BASE_URL}/api/emails/public/confirm/${token}/`;
  const params = { subscriber_id: subscriberId, confirm_url };
  try {
    await call(ctx, "campaigns.sendConfirmation", params, { meta: { ...ctx.meta, companyId } });
  } catch (error) {
    // The next try must not have to wait for the minute of a mail that never was.
    await query(FORGET_MAIL, [companyId, subscriberId]);
    // Out of quota, no way to send: the company's affair, and no difference that a stranger may see.
    if (!isServiceError(error) || isServiceError(error, "UNAVAILABLE")) throw error;
    ctx.broker.logger.warn("A confirmation mail could not be sent", { companyId, reason: error.message });
  }
}

/** Only an unconfirmed subscriber becomes active: a link whose unsubscribe came after it has had its time. */
export async function confirm(token: string) {
  const person = readPersonToken("confirm", token);
  if (!person) throw notFound();
  const { companyId, subscriberId, listId } = person;
  const found = await queryOne<{ email: string; status: Status }>(
    "select email, status from subscribers where company_id = $1 and id = $2",
    [companyId, subscriberId],
  );
  if (!found) throw notFound();
  const isOpen = found.status === "unconfirmed" || found.status === "active";
  if (person.expired || !isOpen) throw gone("This link has expired. Please subscribe again.");
  await transaction(async (client) => {
    if (found.status === "unconfirmed") await markResubscribed(client, { companyId, email: found.email });
    if (listId) await addToLists(client, companyId, [subscriberId], [listId]);
  });
  return { company_id: companyId, subscriber_id: subscriberId, email: found.email };
}
