/** Validates a send request beyond its schema; all errors are reported together. */
import { LRUCache } from "lru-cache";
import type { CampaignType } from "../../../models/campaign.ts";
import { queryOne } from "../../../models/database/db.ts";
import { Media } from "../../../models/media.ts";
import { Template } from "../../../models/template.ts";
import type { Validate } from "../../define.ts";
import { companyOf } from "../../lib/caller.ts";
import { type FieldErrors, missingObject } from "../../lib/errors.ts";
import { bodyErrors, subjectErrors, textErrors } from "../../lib/template/template-errors.ts";
import type { contract } from "../contract.ts";
import type { Content } from "../contract-content.ts";
import { MAX_RECEIVERS } from "../contract-sending.ts";
import { errorsOfBody, errorsOfDesign } from "./body-as-sent.ts";
import { earlierSend } from "./idempotency.ts";
import { receiverErrors } from "./inline-receivers.ts";
import { clockOf, isStillAhead } from "./recipient-hour.ts";
import { isField, type SendParams } from "./send-params.ts";
import { atIndex, type GivenVariant, NOT_BOTH, testErrors } from "./variants.ts";

type IsValid = (field: keyof SendParams) => boolean;

/** Providers refuse larger messages: 25 MB is the usual limit, and base64 adds a third. */
const MAX_ATTACHED_BYTES = 18 * 1024 * 1024;

const REQUIRED = "This field is required.";
const TIME_MISSING = 'With `timezone: "recipient"` this field is required.';

const REFERENCES = ["template_id", "smtp_config_id", "list_id", "segment_id"] as const;
type Reference = (typeof REFERENCES)[number];

// A reference that is not given (null) counts as found. Seconds since 1970 keep the microseconds that a Date would
// lose.
const FIND_REFERENCES = `
  select $2::uuid is null or exists (select from templates where company_id = $1 and id = $2) as template_id,
         $3::uuid is null or exists (select from smtp_configs where company_id = $1 and id = $3) as smtp_config_id,
         $4::uuid is null or exists (select from lists where company_id = $1 and id = $4) as list_id,
         $5::uuid is null or exists (select from segments where company_id = $1 and id = $5) as segment_id,
         (select extract(epoch from updated_at)::text from templates where company_id = $1 and id = $2) as template_version`;

/** References must exist and belong to the company; another company's object is reported as missing. */
export async function referenceErrors(
  companyId: string,
  ids: Partial<Record<Reference, string>>,
): Promise<FieldErrors> {
  const values = [companyId, ids.template_id, ids.smtp_config_id, ids.list_id, ids.segment_id];
  type FoundReferences = Record<Reference, boolean> & { template_version: string | null };
  const found = (await queryOne<FoundReferences>(FIND_REFERENCES, values))!;
  const missing = REFERENCES.filter((field) => !found[field]);
  return {
    ...(found.template_version
      ? fieldError("template_id", await templateErrors(companyId, ids.template_id!, found.template_version))
      : {}),
    ...Object.fromEntries(missing.map((field) => [field, [missingObject(ids[field]!)]])),
  };
}

/** Errors per template version. */
const errorsOfTemplates = new LRUCache<string, string[]>({ max: 10_000 });

/** Templates are checked when saved, but an older release may have allowed more. */
async function templateErrors(companyId: string, id: string, version: string): Promise<string[]> {
  const cached = errorsOfTemplates.get(`${id} ${version}`);
  if (cached) return cached;
  const template = await Template.findOne({ attributes: ["subject", "body", "html"], where: { companyId, id } });
  if (!template) return [];
  const errors = [...subjectErrors(template.subject), ...(await bodyErrors(companyId, template.html ?? template.body))];
  errorsOfTemplates.set(`${id} ${version}`, errors);
  return errors;
}

export async function attachmentErrors(companyId: string, ids: readonly string[]): Promise<string[]> {
  const media = await Media.findAll({
    attributes: ["id", "size"],
    where: { companyId, id: [...ids], deletedAt: null },
  });
  const existingIds = new Set(media.map(({ id }) => id));
  const missing = ids.filter((id) => !existingIds.has(id.toLowerCase()));
  if (missing.length > 0) return missing.map(missingObject);
  const bytes = media.reduce((sum, { size }) => sum + size, 0);
  return bytes > MAX_ATTACHED_BYTES
    ? [`The attachments are ${bytes} bytes together, more than the ${MAX_ATTACHED_BYTES} that mail servers accept.`]
    : [];
}

export const fieldError = (field: keyof SendParams, texts: readonly (string | undefined)[]): FieldErrors => {
  const errors = texts.filter((text) => text !== undefined);
  return errors.length > 0 ? { [field]: errors } : {};
};

export function scheduleError(type: CampaignType, scheduledFor: unknown, byZone: boolean): string | undefined {
  if (scheduledFor === null) return byZone ? TIME_MISSING : undefined;
  if (type === "custom") return "Custom emails cannot be scheduled.";
  if (byZone)
    return isStillAhead(clockOf(scheduledFor as string)) ? undefined : "The time has passed in every time zone.";
  return Date.parse(scheduledFor as string) > Date.now() ? undefined : "The time must be in the future.";
}

function audienceErrors({ list_id, segment_id }: SendParams): FieldErrors {
  if (list_id === undefined && segment_id === undefined) return fieldError("list_id", [REQUIRED]);
  if (list_id === undefined || segment_id === undefined) return {};
  return fieldError("segment_id", ["Give either list_id or segment_id, not both."]);
}

/** Validates the time of a send and its time zone. */
function timeErrors(type: CampaignType, { scheduled_for, timezone }: SendParams, isValid: IsValid): FieldErrors {
  const byZone = isValid("timezone") && timezone === "recipient";
  if (isValid("scheduled_for")) return fieldError("scheduled_for", [scheduleError(type, scheduled_for, byZone)]);
  return fieldError("scheduled_for", [byZone && scheduled_for === undefined ? TIME_MISSING : undefined]);
}

/** Templates are checked when saved; other content comes with the request. */
export async function textErrorsOf(
  companyId: string,
  given: Partial<Content>,
  isValid: (field: keyof Content) => boolean,
): Promise<FieldErrors> {
  const { subject, body, preheader, text_body } = given;
  const inlinesCss = isValid("inline_css") && given.inline_css === true;
  return {
    ...(isValid("subject") ? fieldError("subject", subjectErrors(subject!)) : {}),
    ...(isValid("preheader") ? fieldError("preheader", subjectErrors(preheader ?? "")) : {}),
    ...(isValid("text_body") ? fieldError("text_body", textErrors(text_body ?? "")) : {}),
    ...(isValid("body") ? fieldError("body", await errorsOfBody(companyId, body!, inlinesCss)) : {}),
    ...(isValid("design") ? fieldError("design", await errorsOfDesign(companyId, given, inlinesCss)) : {}),
  };
}

/** Content in place of a template needs a body or a design. */
async function writtenErrors(
  companyId: string,
  given: Partial<Content>,
  isValid: (field: keyof Content) => boolean,
): Promise<FieldErrors> {
  const isMissing = given.body === undefined && given.design === undefined;
  return {
    ...fieldError("body", [isMissing ? REQUIRED : undefined]),
    ...(await textErrorsOf(companyId, given, isValid)),
  };
}

/** Errors of a content whose shape is valid, each with its field. */
async function errorsOfContent(companyId: string, content: Content): Promise<string[]> {
  const isGiven = (field: keyof Content) => content[field] !== undefined;
  const errors = await writtenErrors(companyId, content, isGiven);
  return Object.entries(errors).flatMap(([field, texts]) => texts.map((text) => `${field}: ${text}`));
}

async function contentErrors(companyId: string, params: SendParams, isValid: IsValid): Promise<FieldErrors> {
  const { template_id, content } = params;
  if (content === undefined) return template_id === undefined ? fieldError("template_id", [REQUIRED]) : {};
  return fieldError("content", [
    ...(template_id === undefined ? [] : [NOT_BOTH]),
    ...(isValid("content") ? await errorsOfContent(companyId, content) : []),
  ]);
}

/** Reported like errors of the campaign's own template or content. */
async function variantContentErrors(companyId: string, variants: readonly GivenVariant[]): Promise<string[]> {
  const errors: string[] = [];
  for (const [n, { template_id, content }] of variants.entries()) {
    const found = template_id === undefined ? {} : await referenceErrors(companyId, { template_id });
    const ofContent = content === undefined ? [] : await errorsOfContent(companyId, content);
    errors.push(...(found.template_id ?? []).map((text) => atIndex(n, `template_id: ${text}`)));
    errors.push(...ofContent.map((text) => atIndex(n, `content: ${text}`)));
  }
  return errors;
}

async function variantErrors(companyId: string, params: SendParams, isValid: IsValid): Promise<FieldErrors> {
  // If the shape of one is wrong, the combination cannot be checked.
  const isUnderstood = (["variants", "winner"] as const).every((name) => params[name] === undefined || isValid(name));
  const errors = isUnderstood ? testErrors(params) : {};
  const ofContents = isValid("variants") ? await variantContentErrors(companyId, params.variants ?? []) : [];
  return ofContents.length > 0 ? { ...errors, variants: [...ofContents, ...(errors.variants ?? [])] } : errors;
}

/** An API key fixes the company; a body that names another one gets a field error. */
export const companyError = (companyId: string, { company }: Pick<SendParams, "company">): string | undefined =>
  company!.toLowerCase() === companyId ? undefined : missingObject(company!);

/** Validates beyond the schema; `isValid` tells if a field passed the schema. */
export async function sendErrors(
  type: CampaignType,
  companyId: string,
  params: SendParams,
  isValid: IsValid,
): Promise<FieldErrors> {
  // A repeated key gets the first response even if its references were deleted since.
  if (isValid("idempotency_key") && (await earlierSend(companyId, params.idempotency_key!))) return {};
  const ids = Object.fromEntries(REFERENCES.filter(isValid).map((field) => [field, params[field]]));
  return {
    ...(isValid("company") ? fieldError("company", [companyError(companyId, params)]) : {}),
    ...(type === "to_list" ? audienceErrors(params) : {}),
    ...(type === "to_list" ? await contentErrors(companyId, params, isValid) : {}),
    ...(type === "to_list" ? await variantErrors(companyId, params, isValid) : {}),
    ...(type === "custom" ? await writtenErrors(companyId, params, isValid) : {}),
    ...(await referenceErrors(companyId, ids)),
    ...(isValid("attachment_ids")
      ? fieldError("attachment_ids", await attachmentErrors(companyId, params.attachment_ids!))
      : {}),
    // Validate the other receivers even if the schema found one that is not an object.
    ...(isField(type, "receivers") && Array.isArray(params.receivers)
      ? fieldError("receivers", receiverErrors(params.receivers.slice(0, MAX_RECEIVERS)))
      : {}),
    ...timeErrors(type, params, isValid),
  };
}

type Sends = typeof contract.sendToList | typeof contract.sendToReceivers | typeof contract.sendCustom;

/** `validate` of a send action. */
export const errorsOfSend =
  <A extends Sends>(type: CampaignType): Validate<A> =>
  (ctx, isValid) =>
    sendErrors(
      type,
      companyOf(ctx),
      ctx.params as unknown as SendParams,
      (field) => isField(type, field) && (isValid as IsValid)(field),
    );
