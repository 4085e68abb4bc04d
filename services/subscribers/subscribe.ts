/** Public subscribe, and the confirmation of a double opt-in. */

import { Company } from "../../models/company.ts";
import { type Client, INTERACTIVE, query, queryOne, transaction } from "../../models/database/db.ts";
import { isErased, liftErasure } from "../../models/statements/erased-addresses.ts";
import { markResubscribed } from "../../models/statements/unsubscribe.ts";
import { Subscriber, type SubscriberStatus } from "../../models/subscriber.ts";
import { call } from "../call.ts";
import type { Ctx } from "../lib/caller.ts";
import { config } from "../lib/config.ts";
import { gone, invalid, isServiceError, missingObject, notFound, subscriberLimitReached } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { personToken, readPersonToken } from "../lib/tokens/person-token.ts";
import { roomFor, subscriberLimit } from "./company-locks.ts";
import { addToLists, missing } from "./members.ts";

const CONFIRM_WITHIN_DAYS = 7;
const CONFIRMATIONS_A_DAY = 5;
const DAY_MS = 86_400_000;

interface SubscribeRequest {
  company_id: string;
  email: string;
  first_name?: string;
  last_name?: string;
  list_id?: string;
}

interface Known {
  id: string;
  status: SubscriberStatus;
}

// Anybody may type any address into a public form: blank names are filled in, existing ones never changed.
const SAVE = `
  insert into subscribers as s (id, company_id, email, first_name, last_name, status) values ($2, $1, $3, $4, $5, $6)
  on conflict (company_id, email_key) do update set
    first_name = coalesce(nullif(s.first_name, ''), excluded.first_name),
    last_name = coalesce(nullif(s.last_name, ''), excluded.last_name)
  returning s.id, s.status`;

// At most one mail a minute and a few a day for an address (anybody can use the form to fill another person's mailbox),
// and none while a block other than an unsubscribe holds. Active subscribers are asked only if an unsubscribe still holds
// (they were deleted and imported again) or for a list that they are not on.
const ASK_TO_CONFIRM = `
  update subscribers set confirm_mailed_at = now(), updated_at = now(),
    status = case when status = 'active' and blocked_by(company_id, email) is null then status else 'unconfirmed' end
  where company_id = $1 and id = $2
    and (status in ('unconfirmed', 'unsubscribed') or (status = 'active' and (
      blocked_by(company_id, email) = 'unsubscribed' or ($3::uuid is not null and not exists (
        select from list_members m
        where m.company_id = $1 and m.list_id = $3 and m.subscriber_id = $2 and m.left_at is null)))))
    and (confirm_mailed_at is null or confirm_mailed_at < now() - interval '1 minute')
    and (select count(*) from sent_emails e join campaigns c on c.no = e.campaign_no
      where c.company_id = $1 and e.subscriber_id = $2 and c.is_internal
        and c.created_at > now() - interval '1 day') < ${CONFIRMATIONS_A_DAY}
    and coalesce(blocked_by(company_id, email), 'unsubscribed') = 'unsubscribed'
  returning id, status`;

const RESET_CONFIRM_MAILED = "update subscribers set confirm_mailed_at = null where company_id = $1 and id = $2";

async function save(
  client: Client,
  request: SubscribeRequest,
  status: SubscriberStatus,
  limit: number | null,
): Promise<Known> {
  const { company_id: companyId, first_name = "", last_name = "" } = request;
  const email = request.email.trim();
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
 * The subscriber to mail a confirmation link to, or undefined. Under double opt-in a request alone never puts an active
 * subscriber on a list, because they may have left it; an unconfirmed one is put on it at once, and gets no mail until
 * confirming.
 */
async function record(
  request: SubscribeRequest,
  doubleOptIn: boolean,
  limit: number | null,
): Promise<Known | undefined> {
  const { company_id: companyId } = request;
  return transaction(
    async (client) => {
      const { id, status } = await save(client, request, doubleOptIn ? "unconfirmed" : "active", limit);
      const atOnce = !doubleOptIn || status !== "active";
      if (request.list_id && atOnce) await addToLists(client, companyId, [id], [request.list_id]);
      if (doubleOptIn) return queryOne<Known>(ASK_TO_CONFIRM, [companyId, id, request.list_id ?? null], client);
      await markResubscribed(client, { companyId, email: request.email.trim() });
      return undefined;
    },
    { ...INTERACTIVE, owner: companyId },
  );
}

/** The same answer for a known and an unknown address. */
export async function subscribe(ctx: Ctx<SubscribeRequest>) {
  const request = ctx.params;
  const company = await Company.findByPk(request.company_id, { attributes: ["doubleOptIn", "deletedAt"] });
  if (!company || company.deletedAt) throw notFound();
  if (request.list_id && (await missing("lists", request.company_id, [request.list_id])).length > 0) {
    throw invalid({ list_id: [missingObject(request.list_id)] });
  }
  // Who was erased comes back by a confirmation alone: anybody may type an address into a form.
  const mustConfirm = company.doubleOptIn || (await isErased(request.company_id, request.email));
  const unconfirmed = await record(request, mustConfirm, await subscriberLimit(ctx, request.company_id));
  if (unconfirmed) {
    await mailConfirmation(ctx, request.company_id, unconfirmed.id, request.list_id);
  }
  return { detail: company.doubleOptIn ? "Thank you. Please confirm by the link in your mail." : "Thank you." };
}

async function mailConfirmation(ctx: Ctx, companyId: string, subscriberId: string, listId?: string): Promise<void> {
  const until = new Date(Date.now() + CONFIRM_WITHIN_DAYS * DAY_MS);
  const token = personToken("confirm", companyId, subscriberId, until, listId);
  const confirm_url = `${config().BASE_URL}/api/emails/public/confirm/${token}/`;
  const params = { subscriber_id: subscriberId, confirm_url };
  try {
    await call(ctx, "campaigns.sendConfirmation", params, { meta: { ...ctx.meta, companyId } });
  } catch (error) {
    // The next attempt must not wait for a minute because of a mail that was never sent.
    await query(RESET_CONFIRM_MAILED, [companyId, subscriberId]);
    // Out of quota, or no SMTP configuration: the company's problem, which the public answer must not reveal.
    if (!isServiceError(error) || isServiceError(error, "UNAVAILABLE")) throw error;
    ctx.broker.logger.warn("A confirmation mail could not be sent", { companyId, reason: error.message });
  }
}

/** Only an unconfirmed subscriber becomes active: an unsubscribe that came after the mail voids its link. */
export async function confirm(token: string) {
  const person = readPersonToken("confirm", token);
  if (!person) throw notFound();
  const { companyId, subscriberId, listId } = person;
  const found = await Subscriber.findOne({ attributes: ["email", "status"], where: { companyId, id: subscriberId } });
  if (!found) throw notFound();
  const isOpen = found.status === "unconfirmed" || found.status === "active";
  if (person.expired || !isOpen) throw gone("This link has expired. Please subscribe again.");
  await transaction(async (client) => {
    await liftErasure(client, companyId, found.email);
    if (found.status === "unconfirmed") await markResubscribed(client, { companyId, email: found.email });
    if (listId) await addToLists(client, companyId, [subscriberId], [listId]);
  });
  return { company_id: companyId, subscriber_id: subscriberId, email: found.email };
}
