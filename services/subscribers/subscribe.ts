/** Public subscribe, and its confirmation. */

import { Company } from "../../models/company.ts";
import { type Client, INTERACTIVE, queryOne, transaction } from "../../models/database/db.ts";
import { List } from "../../models/list.ts";
import { askToConfirm, confirmMailbox, type FormValues } from "../../models/statements/ask-to-confirm.ts";
import { isErased, liftErasure } from "../../models/statements/erased-addresses.ts";
import { roomFor } from "../../models/statements/subscriber-locks.ts";
import type { SubscriberStatus } from "../../models/subscriber.ts";
import { addressText } from "../lib/address.ts";
import { type Ctx, requireOwnHost } from "../lib/caller.ts";
import { gone, invalid, missingObject, notFound, subscriberLimitReached } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import type { Document } from "../lib/shapes.ts";
import { readPersonToken } from "../lib/tokens/person-token.ts";
import { withUniformTiming } from "../lib/uniform-timing.ts";
import { countDropped } from "./dropped-sign-ups.ts";
import { addToLists, missing } from "./members.ts";
import { attributesIn, formAnswer, isTrapped } from "./public-form.ts";
import { subscriberLimit } from "./subscriber-limit.ts";

const MAX_LANGUAGES = 200;

interface SubscribeRequest {
  company_id: string;
  email: string;
  first_name?: string;
  last_name?: string;
  list_id?: string;
  redirect_url?: string;
  website?: unknown;
}

// A known subscriber stays unchanged: the form's values are applied on confirmation
// (models/statements/ask-to-confirm.ts). An address that unsubscribed without being a subscriber also stays so until
// then.
const SAVE = `
  insert into subscribers as s (id, company_id, email, first_name, last_name, status, attributes)
  values ($2, $1, $3, $4, $5, case when exists (select from suppressions x
    where x.company_id = $1 and x.email_key = address_key($3) and x.kind = 'unsubscribed') then 'unsubscribed' else $6 end, $7)
  on conflict (company_id, email_key) do update set status = s.status
  returning s.id, s.xmax = 0 as is_new`;

async function save(
  client: Client,
  request: SubscribeRequest,
  { status, values, limit }: { status: SubscriberStatus; values: FormValues; limit: number | null },
): Promise<{ id: string; is_new: boolean }> {
  const { company_id: companyId } = request;
  const { first_name, last_name, attributes } = values;
  const email = addressText(request.email);
  const room = await roomFor(client, companyId, limit);
  if (room === 0) {
    const subscriberExists = "select from subscribers where company_id = $1 and email_key = address_key($2)";
    if (!(await queryOne(subscriberExists, [companyId, email], client))) throw subscriberLimitReached(limit!);
  }
  const row = [companyId, newId(), email, first_name, last_name, status, attributes];
  return (await queryOne<{ id: string; is_new: boolean }>(SAVE, row, client))!;
}

/**
 * Known and unknown addresses get the same answer at the same time: the same statements run, emails are only queued,
 * and the response is sent at a fixed interval.
 */
export const subscribe = (ctx: Ctx<SubscribeRequest>): Promise<Document> =>
  withUniformTiming(async () => formAnswer(ctx, { asksToConfirm: await record(ctx) }));

/** Returns whether a confirmation is requested, which does not depend on the address. */
async function record(ctx: Ctx<SubscribeRequest>): Promise<boolean> {
  const request = ctx.params;
  const { company_id: companyId, list_id: listId = null } = request;
  requireOwnHost(ctx.meta, companyId);
  const company = await Company.findByPk(companyId, {
    attributes: ["doubleOptIn", "deletedAt", "formAttributes"],
  });
  if (!company || company.deletedAt) throw notFound();
  if (listId && (await missing("lists", companyId, [listId])).length > 0) {
    throw invalid({ list_id: [missingObject(listId)] });
  }
  const asksToConfirm = (await ownChoice(companyId, listId)) ?? company.doubleOptIn;
  if (isTrapped({ ...request })) {
    await countDropped(companyId);
    return asksToConfirm;
  }
  const values = {
    first_name: (request.first_name ?? "").trim(),
    last_name: (request.last_name ?? "").trim(),
    attributes: attributesIn({ ...request }, company.formAttributes),
  };
  // Erased persons return by a confirmation only, because anyone can enter an address.
  const doubleOptIn = asksToConfirm || (await isErased(companyId, request.email));
  const limit = await subscriberLimit(ctx, companyId);
  const acceptLanguage = (ctx.meta.http?.acceptLanguage ?? "").slice(0, MAX_LANGUAGES);
  await transaction(
    async (client) => {
      const status = doubleOptIn ? "unconfirmed" : "active";
      const { id: subscriberId, is_new: isNew } = await save(client, request, { status, values, limit });
      await askToConfirm(client, { companyId, subscriberId, listId, doubleOptIn, acceptLanguage, isNew, values });
    },
    { ...INTERACTIVE, owner: companyId },
  );
  return asksToConfirm;
}

/** Tells if the list requires confirmations; null if it uses the company's setting. */
async function ownChoice(companyId: string, listId: string | null): Promise<boolean | null> {
  if (!listId) return null;
  const list = await List.findOne({ attributes: ["doubleOptIn"], where: { companyId, id: listId } });
  return list?.doubleOptIn ?? null;
}

/** An unsubscribe after the email was sent voids its link. */
export async function confirm(token: string) {
  const link = readPersonToken("confirm", token);
  if (!link) throw notFound();
  const { companyId, subscriberId } = link;
  const confirmed = await transaction(async (client) => {
    const done = await confirmMailbox(client, link);
    if (typeof done === "object" && !link.expired && done.joins.length > 0) {
      await addToLists(client, companyId, [subscriberId], done.joins);
    }
    if (done === "unknown") throw notFound();
    if (done === "void" || link.expired) throw gone("This link has expired. Please subscribe again.");
    await liftErasure(client, companyId, done.email);
    return done;
  });
  return { company_id: companyId, subscriber_id: subscriberId, email: confirmed.email };
}
