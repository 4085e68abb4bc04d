/**
 * Turns a send request into a campaign in one transaction. Recipients are written afterwards (expansion/expand.ts), so
 * that the response time does not depend on the size of the audience.
 */
import { type CampaignType, campaignView, type InsertedCampaign, rowOfNew } from "../../../models/campaign.ts";
import { writeNewsletter } from "../../../models/database/bulk.ts";
import { type Client, query, queryOne, transaction } from "../../../models/database/db.ts";
import { auditWithin } from "../../../models/statements/audit-log.ts";
import { storeTraceWithin } from "../../../models/statements/campaign-traces.ts";
import { writeVariants } from "../../../models/statements/campaign-variants.ts";
import { requireQuotaWithin } from "../../../models/statements/monthly-quota.ts";
import { findCampaign } from "../../../models/statements/read-campaign.ts";
import { snapshotContents } from "../../../models/statements/snapshot-contents.ts";
import { emitAndForget } from "../../call.ts";
import { type Ctx, companyOf } from "../../lib/caller.ts";
import { conflict } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { textWarnings } from "../../lib/template/text-warnings.ts";
import { admit, requireHourlyRoomWithin } from "./admission.ts";
import { audienceSize } from "./audience-size.ts";
import { asSent, asStored, variantsAsSent } from "./body-as-sent.ts";
import { answerOf, claimKey, requestHash, storeAnswer } from "./idempotency.ts";
import { copiesOf, storedReceivers, withoutErased } from "./inline-receivers.ts";
import { clockOf, earliestStart } from "./recipient-hour.ts";
import { furtherOf, paramsOf, type SendParams } from "./send-params.ts";
import { contentWarnings, sendWarnings, winnerWarnings } from "./warnings.ts";

const INSERT_CAMPAIGN = `
  with made as (
    insert into campaigns (id, company_id, name, campaign_type, status, total_emails, scheduled_for,
      template_id, smtp_config_id, list_id, segment_id, is_transactional, worker_task_id, api_key_id, copies_asked,
      individual_tracking, timezone, starts_at)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15,
      (select k.individual_tracking from companies k where k.id = $2), $16, $17)
    returning *)
  select made.*, add_count(company_id, 'campaigns', company_id, 1) from made`;

const INSERT_RECEIVERS = `
  insert into campaign_receivers (campaign_id, company_id, no, email, cc, bcc, variables)
  select $1, $2, r.no, r.email, r.cc, r.bcc, r.variables
  from rows from (json_to_recordset($3) as (email text, cc text[], bcc text[], variables jsonb)) with ordinality
    as r (email, cc, bcc, variables, no)`;

/** Size from which writing receivers takes noticeable database time. */
const MANY_RECEIVERS = 500;
/** Newsletters of one company are written one at a time. */
const isNewsletter = (type: CampaignType, { is_transactional, receivers = [] }: SendParams): boolean =>
  !is_transactional && (type === "to_list" || receivers.length >= MANY_RECEIVERS);

const STORE_UTM = "update campaign_contents set utm = $3 where company_id = $1 and campaign_id = $2";

export type Answer = ReturnType<typeof campaignView> & {
  company: string;
  template: string | null;
  lists: string[];
  worker_task_id: string;
  warnings: string[];
};

interface Times {
  scheduledFor: Date | null;
  /** Earliest instant at which the hour is reached, for recipient time zones. */
  startsAt: Date | null;
}

function timesOf({ scheduled_for, timezone }: SendParams): Times {
  if (!scheduled_for) return { scheduledFor: null, startsAt: null };
  if (timezone !== "recipient") return { scheduledFor: new Date(scheduled_for as string), startsAt: null };
  const clock = clockOf(scheduled_for as string);
  return { scheduledFor: clock, startsAt: earliestStart(clock) };
}

interface Origin {
  /** Content of an Idempotency-Key if it is not the body. */
  hash?: Buffer;
  /** Runs first in the campaign's transaction; throws if there may be no campaign. */
  claim?(client: Client): Promise<void>;
  /** Number of recipients, if the request does not determine it. */
  emails?: number;
  /** Stores a campaign that is not built from the request alone. */
  create?(client: Client, decided: Decided): Promise<Answer>;
}

export const send = (ctx: Ctx<SendParams>, type: CampaignType): Promise<Answer> => sendAs(ctx, type, ctx.params);

/** `given` has passed the validation of this send. */
export async function sendAs(ctx: Ctx, type: CampaignType, given: SendParams, origin: Origin = {}): Promise<Answer> {
  const companyId = companyOf(ctx);
  const { idempotency_key: key, ...asked } = paramsOf(type, given);
  const apiKeyId = ctx.meta.apiKeyId ?? null;
  // Hash only if there is a key: thousands of receivers take milliseconds.
  const idempotency = key ? { key, hash: origin.hash ?? requestHash(type, asked) } : undefined;
  const earlier = idempotency && (await answerOf<Answer>(companyId, idempotency.key, idempotency.hash));
  if (earlier) return earlier;

  const body: SendParams = { ...asked, ...asked.content };
  const { scheduledFor, startsAt } = timesOf(body);
  const emails = origin.emails ?? (await audienceSize(companyId, body));
  const copies = copiesOf(body.receivers ?? []);
  const mails = emails + copies;
  const warned = warningsOf(ctx, companyId, body);
  // Runs in parallel; a refusal by plan or hourly limit takes precedence.
  warned.catch(() => {});
  const hour = await admit(ctx, {
    emails: mails,
    scheduledFor: startsAt ?? scheduledFor,
    toSegment: body.segment_id !== undefined,
  });
  const made = await asStored(companyId, body);
  const variants = body.variants && (await variantsAsSent(companyId, body.variants));
  const warnings = await warned;

  const write = async (client: Client): Promise<Answer> => {
    if (idempotency && !(await claimKey(client, companyId, idempotency.key, idempotency.hash))) {
      const first = await answerOf<Answer>(companyId, idempotency.key, idempotency.hash, client);
      if (first) return first;
      throw conflict("This Idempotency-Key expired during the request. Try again.");
    }
    await origin.claim?.(client);
    // Check again under a lock, so that concurrent sends cannot exceed a limit together.
    await requireQuotaWithin(client, companyId, mails, startsAt ?? scheduledFor);
    if (hour) await requireHourlyRoomWithin(client, companyId, mails, hour);
    const decided = { further: furtherOf(body), emails, copies, scheduledFor, startsAt, apiKeyId, warnings };
    const created = origin.create
      ? await origin.create(client, decided)
      : await create(client, companyId, type, { ...body, ...made, variants, ...decided });
    await storeTraceWithin(client, companyId, created.id);
    const detail = { name: created.name, type, recipients: emails };
    await auditWithin(client, companyId, ctx.meta, { action: "campaign.sent", target: created.id, detail });
    if (idempotency) await storeAnswer(client, companyId, idempotency.key, created);
    return created;
  };
  const answer = await (isNewsletter(type, body) ? writeNewsletter(companyId, write) : transaction(write));
  if (answer.status === "pending") {
    ctx.broker.logger.info({ campaignId: answer.id, companyId, emails }, "Campaign started");
    emitAndForget(ctx, "campaign.pending", { campaignId: answer.id });
  }
  return answer;
}

/** Characters of a body that are checked for warnings. */
const MAX_CHECKED_LENGTH = 100_000;

async function warningsOf(ctx: Ctx, companyId: string, params: SendParams): Promise<string[]> {
  const { smtp_config_id, winner } = params;
  const warnings = [...(await warningsOfTexts(ctx, params)), ...(await sendWarnings(ctx, companyId, smtp_config_id))];
  return winner ? [...warnings, ...(await winnerWarnings(companyId))] : warnings;
}

/** Warnings about a template were shown when it was saved. */
async function warningsOfTexts(ctx: Ctx, params: SendParams): Promise<string[]> {
  const { content, variants, list_id, is_transactional = false } = params;
  const contents = [content, ...(variants ?? []).map((variant) => variant.content)].filter((one) => one !== undefined);
  if (contents.length > 0) return contentWarnings(ctx, contents, { list_id, is_transactional });
  const { subject, preheader } = params;
  const { body, text_body } = params.design ? await asSent(companyOf(ctx), params) : params;
  if (body === undefined) return [];
  return textWarnings({
    subject,
    preheader,
    body: body.slice(0, MAX_CHECKED_LENGTH),
    textBody: text_body?.slice(0, MAX_CHECKED_LENGTH),
  });
}

interface Decided extends Times {
  further: Record<string, unknown> | null;
  emails: number;
  copies: number;
  apiKeyId: string | null;
  warnings: string[];
}
type Request = SendParams & Decided;

async function create(client: Client, companyId: string, type: CampaignType, request: Request): Promise<Answer> {
  const id = newId();
  const taskId = newId();
  const values = [
    id,
    companyId,
    request.name.trim(),
    type,
    request.scheduledFor ? "scheduled" : "pending",
    request.emails,
    request.scheduledFor,
    request.template_id,
    request.smtp_config_id,
    request.list_id,
    request.segment_id,
    request.is_transactional ?? false,
    taskId,
    request.apiKeyId,
    request.copies,
    request.timezone,
    request.startsAt,
  ];
  const row = (await queryOne<InsertedCampaign>(INSERT_CAMPAIGN, values, client))!;
  const subject = await snapshotContents(client, companyId, id, request, request.further);
  // Validation found everything, but something may have been deleted since.
  const { variants, winner = null } = request;
  const isWhole =
    subject !== undefined && (!variants || (await writeVariants(client, companyId, id, variants, winner)));
  if (!isWhole) throw conflict("Something that this send refers to was just deleted. Try again.");
  if (request.utm) await query(STORE_UTM, [companyId, id, request.utm], client);
  if (request.receivers) {
    const receivers = await withoutErased(companyId, storedReceivers(request.receivers), client);
    await query(INSERT_RECEIVERS, [id, companyId, JSON.stringify(receivers)], client);
  }
  const { template_id, list_id } = row;
  return {
    ...(variants ? (await findCampaign(companyId, id, { on: client }))! : campaignView(rowOfNew(row, subject))),
    company: companyId,
    template: template_id,
    lists: list_id ? [list_id] : [],
    worker_task_id: taskId,
    warnings: request.warnings,
  };
}
