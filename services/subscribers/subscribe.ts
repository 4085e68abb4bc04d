/** Public subscribe, and the confirmation of a double opt-in. */
import { type Client, query, queryOne, transaction } from "../../models/db.ts";
import { call } from "../call.ts";
import { config } from "../config.ts";
import type { Ctx } from "../define.ts";
import { gone, invalid, isApiError, missingObject, notFound, subscriberLimitReached } from "../errors.ts";
import { newId } from "../ids.ts";
import { personToken, readPersonToken } from "../tracking/person-token.ts";
import { addToLists, missing } from "./members.ts";
import { roomFor, subscriberLimit } from "./plan-limit.ts";
import type { Status } from "./subscriber.ts";
import { markResubscribed } from "./unsubscribed.ts";

const CONFIRM_WITHIN_DAYS = 7;
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

// One mail a minute for an address, and none where a block other than an unsubscribe holds.
const ASK_TO_CONFIRM = `
  update subscribers set status = 'unconfirmed', confirm_mailed_at = now(), updated_at = now()
  where company_id = $1 and id = $2 and status in ('unconfirmed', 'unsubscribed')
    and (confirm_mailed_at is null or confirm_mailed_at < now() - interval '1 minute')
    and coalesce(blocked_by(company_id, email), 'unsubscribed') = 'unsubscribed'
  returning id`;

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

/** Who must still be mailed a confirmation link, or undefined. */
async function record(wish: Wish, doubleOptIn: boolean, limit: number | null): Promise<string | undefined> {
  const { company_id: companyId } = wish;
  return transaction(async (client) => {
    const { id } = await save(client, wish, doubleOptIn ? "unconfirmed" : "active", limit);
    if (wish.list_id) await addToLists(client, companyId, [id], [wish.list_id]);
    if (doubleOptIn) return (await queryOne<{ id: string }>(ASK_TO_CONFIRM, [companyId, id], client))?.id;
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
  if (unconfirmed) await mailConfirmation(ctx, wish.company_id, unconfirmed);
  return { detail: company.double_opt_in ? "Thank you. Please confirm by the link in your mail." : "Thank you." };
}

async function mailConfirmation(ctx: Ctx, companyId: string, subscriberId: string): Promise<void> {
  const token = personToken("confirm", companyId, subscriberId, new Date(Date.now() + CONFIRM_WITHIN_DAYS * DAY_MS));
  const confirm_url = `${config().BASE_URL}/api/emails/public/confirm/${token}/`;
  const params = { subscriber_id: subscriberId, confirm_url };
  try {
    await call(ctx, "campaigns.sendConfirmation", params, { meta: { ...ctx.meta, companyId } });
  } catch (error) {
    // The next try must not have to wait for the minute of a mail that never was.
    await query(FORGET_MAIL, [companyId, subscriberId]);
    // Out of quota, no way to send: the company's affair, and no difference that a stranger may see.
    if (!isApiError(error) || error.code >= 500) throw error;
    ctx.broker.logger.warn("A confirmation mail could not be sent", { companyId, reason: error.message });
  }
}

/** Only an unconfirmed subscriber becomes active: an old link must not undo an unsubscribe that came after it. */
export async function confirm(token: string) {
  const person = readPersonToken("confirm", token);
  if (!person) throw notFound();
  const { companyId, subscriberId } = person;
  const found = await queryOne<{ email: string; status: Status }>(
    "select email, status from subscribers where company_id = $1 and id = $2",
    [companyId, subscriberId],
  );
  if (!found) throw notFound();
  if (person.expired) throw gone("This link has expired. Please subscribe again.");
  if (found.status === "unconfirmed") {
    await transaction((client) => markResubscribed(client, { companyId, email: found.email }));
  }
  return { company_id: companyId, subscriber_id: subscriberId, email: found.email };
}
