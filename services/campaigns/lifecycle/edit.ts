/**
 * Edits a scheduled campaign: time, audience, content. The row lock serializes an edit with the campaign's start
 * (schedule.ts); an edit that comes second is refused.
 */
import type { CampaignRow } from "../../../models/campaign.ts";
import { type Client, query, queryOne, transaction } from "../../../models/database/db.ts";
import { auditWithin } from "../../../models/statements/audit-log.ts";
import { requireQuotaWithin } from "../../../models/statements/monthly-quota.ts";
import { findCampaign, holdCampaign, withDesign } from "../../../models/statements/read-campaign.ts";
import { inlinesCssOf, rewriteContents } from "../../../models/statements/snapshot-contents.ts";
import { call } from "../../call.ts";
import type { ParamsOf } from "../../contracts.ts";
import type { Validate } from "../../define.ts";
import { type Ctx, companyOf } from "../../lib/caller.ts";
import { conflict, type FieldErrors, invalid, notFound, wrongState } from "../../lib/errors.ts";
import type { contract } from "../contract.ts";
import type { Content } from "../contract-content.ts";
import { audienceSize } from "../send/audience-size.ts";
import { asStored } from "../send/body-as-sent.ts";
import { clockOf, earliestStart } from "../send/recipient-hour.ts";
import { attachmentErrors, fieldError, referenceErrors, scheduleError, textErrorsOf } from "../send/send-errors.ts";

type UpdateParams = ParamsOf<"campaigns.update">;

const REFERENCES = ["template_id", "list_id", "segment_id"] as const;
const TEXTS = ["subject", "preheader", "body", "design", "text_body"] as const;
const EDITABLE = ["name", "scheduled_for", ...REFERENCES, ...TEXTS, "attachment_ids"] as const;

const timeError = async (companyId: string, { id, scheduled_for }: UpdateParams) =>
  scheduleError("to_list", scheduled_for, (await findCampaign(companyId, id))?.timezone === "recipient");

/** Validates the fields; whether they suit the campaign is checked once its row is locked. */
export const errorsOfEdit: Validate<typeof contract.update> = async (ctx, isValid): Promise<FieldErrors> => {
  const companyId = companyOf(ctx);
  const { params } = ctx;
  const ids = Object.fromEntries(REFERENCES.filter(isValid).map((field) => [field, params[field]]));
  const both = isValid("list_id") && isValid("segment_id");
  const changesBody = isValid("body") || isValid("design");
  const inline_css = changesBody && (await inlinesCssOf(companyId, params.id, ids.template_id));
  const isText = (field: keyof Content) => field === "inline_css" || isValid(field);
  return {
    ...(await referenceErrors(companyId, ids)),
    ...(both ? fieldError("segment_id", ["Give either list_id or segment_id, not both."]) : {}),
    ...(await textErrorsOf(companyId, { ...params, inline_css }, isText)),
    ...(isValid("attachment_ids")
      ? fieldError("attachment_ids", await attachmentErrors(companyId, params.attachment_ids!))
      : {}),
    ...(isValid("scheduled_for") ? fieldError("scheduled_for", [await timeError(companyId, params)]) : {}),
  };
};

interface Held extends CampaignRow {
  copies_asked: number;
}

/** Exclude the campaign's own usage from the limit check. */
const UNCOUNT = "update campaigns set total_emails = 0, copies_asked = 0 where company_id = $1 and id = $2";

const WRITE = `
  update campaigns set name = coalesce($3, name), scheduled_for = coalesce($4, scheduled_for), starts_at = $10,
    template_id = coalesce($5, template_id),
    list_id = case when $7::uuid is null then coalesce($6, list_id) end,
    segment_id = case when $6::uuid is null then coalesce($7, segment_id) end,
    total_emails = $8, copies_asked = $9, updated_at = now()
  where company_id = $1 and id = $2`;

function requireEditable(campaign: Held | undefined, { list_id, segment_id }: UpdateParams): asserts campaign {
  if (!campaign) throw notFound();
  if (campaign.status !== "scheduled") {
    throw wrongState(`Only a scheduled campaign can be edited. This one is ${campaign.status}.`);
  }
  if (campaign.campaign_type === "to_list" || (list_id === undefined && segment_id === undefined)) return;
  const sentence = "This campaign's receivers were set by its request and cannot be changed.";
  throw invalid({ [list_id === undefined ? "segment_id" : "list_id"]: [sentence] });
}

async function write(
  client: Client,
  companyId: string,
  campaign: Held,
  asked: UpdateParams,
  emails: number | undefined,
) {
  const { id, name, scheduled_for, template_id, list_id, segment_id } = asked;
  const total = emails ?? campaign.total_emails;
  const byZone = campaign.timezone === "recipient";
  const given = scheduled_for && (byZone ? clockOf(scheduled_for) : new Date(scheduled_for));
  const scheduledFor = given || campaign.scheduled_for!;
  const startsAt = byZone ? earliestStart(scheduledFor) : null;
  // The charged month or the number of recipients may change.
  if (emails !== undefined || scheduled_for !== undefined) {
    await client.query(UNCOUNT, [companyId, id]);
    await requireQuotaWithin(client, companyId, total + campaign.copies_asked, startsAt ?? scheduledFor);
  }
  const values = [name?.trim(), scheduledFor, template_id, list_id, segment_id, total, campaign.copies_asked, startsAt];
  await query(WRITE, [companyId, id, ...values], client);
  if (!(await rewriteContents(client, companyId, id, asked))) {
    throw conflict("Something that this edit refers to was just deleted. Try again.");
  }
}

export async function edit(ctx: Ctx<UpdateParams>) {
  const companyId = companyOf(ctx);
  const { id, ...fields } = ctx.params;
  if (fields.scheduled_for !== undefined)
    await call(ctx, "accounts.requireFeature", { feature: "scheduled_campaigns" });
  if (fields.segment_id !== undefined) await call(ctx, "accounts.requireFeature", { feature: "segments" });
  const before = await findCampaign(companyId, id);
  if (!before) throw notFound();
  const { list_id, segment_id } = fields;
  const emails =
    list_id === undefined && segment_id === undefined
      ? undefined
      : await audienceSize(companyId, { list_id, segment_id, is_transactional: before.is_transactional });
  const changesBody = fields.body !== undefined || fields.design !== undefined;
  const inline_css = changesBody && (await inlinesCssOf(companyId, id, fields.template_id));
  const made = await asStored(companyId, { ...fields, inline_css });
  return transaction(async (client) => {
    // Lock the company before the campaign, in the same order as a send.
    await queryOne("select from companies where id = $1 for no key update", [companyId], client);
    const campaign = await holdCampaign<Held>(client, companyId, id);
    requireEditable(campaign, ctx.params);
    await write(client, companyId, campaign, { ...ctx.params, ...made }, emails);
    const detail = { fields: EDITABLE.filter((field) => fields[field] !== undefined) };
    await auditWithin(client, companyId, ctx.meta, { action: "campaign.updated", target: id, detail });
    return withDesign(companyId, (await findCampaign(companyId, id, { on: client }))!, client);
  });
}
