/** All faults of a send request beyond its schema, told together with the schema's own. */
import type { Validate } from "../../define.ts";
import { type Ctx, companyOf } from "../../lib/caller.ts";
import { type FieldErrors, missingObject } from "../../lib/errors.ts";
import { compileTemplate } from "../../lib/template/compile.ts";
import type { contract } from "../contract.ts";
import { MAX_RECEIVERS } from "../contract-sending.ts";
import { earlierSend } from "./idempotency.ts";
import { receiverFaults } from "./inline-receivers.ts";
import { attachmentFaults, type References, referenceFaults } from "./references.ts";
import { type CampaignType, isField, type SendParams } from "./send-params.ts";

type Sound = (field: keyof SendParams) => boolean;

const REFERENCES = ["template_id", "smtp_config_id", "list_id", "segment_id"] as const;

const fault = (field: keyof SendParams, texts: readonly (string | undefined)[]): FieldErrors => {
  const told = texts.filter((text) => text !== undefined);
  return told.length > 0 ? { [field]: told } : {};
};

function scheduleFault(type: CampaignType, scheduledFor: unknown): string | undefined {
  if (scheduledFor === null) return undefined;
  if (type === "custom") return "Custom emails cannot be scheduled.";
  return Date.parse(scheduledFor as string) > Date.now() ? undefined : "The time must be in the future.";
}

function audienceFaults({ list_id, segment_id }: SendParams): FieldErrors {
  if (list_id === undefined && segment_id === undefined) return fault("list_id", ["This field is required."]);
  if (list_id === undefined || segment_id === undefined) return {};
  return fault("segment_id", ["Give either list_id or segment_id, not both."]);
}

/** A template is checked when it is saved; the text of a custom send comes with it. */
function textFaults({ subject, body }: SendParams, isValid: Sound): FieldErrors {
  return {
    ...(isValid("subject") ? fault("subject", compileTemplate(subject!, "subject").errors ?? []) : {}),
    ...(isValid("body") ? fault("body", compileTemplate(body!, "body").errors ?? []) : {}),
  };
}

/** With a key the company is the key's, and naming another one is a mistake like any other in the body. */
const companyFault = (companyId: string, { company }: SendParams): string | undefined =>
  company!.toLowerCase() === companyId ? undefined : missingObject(company!);

async function errorsOf(type: CampaignType, ctx: Ctx<SendParams>, isValid: Sound): Promise<FieldErrors> {
  const { params } = ctx;
  const companyId = companyOf(ctx);
  // An answer that was given once is given again, also when what it refers to is gone by now.
  if (isValid("idempotency_key") && (await earlierSend(companyId, params.idempotency_key!))) return {};
  const ids: References = Object.fromEntries(REFERENCES.filter(isValid).map((field) => [field, params[field]]));
  return {
    ...(isValid("company") ? fault("company", [companyFault(companyId, params)]) : {}),
    ...(type === "to_list" ? audienceFaults(params) : {}),
    ...(type === "custom" ? textFaults(params, isValid) : {}),
    ...(await referenceFaults(companyId, ids)),
    ...(isValid("attachment_ids")
      ? fault("attachment_ids", await attachmentFaults(companyId, params.attachment_ids!))
      : {}),
    // Also where the schema has found one that is no object: what the others lack is told with it.
    ...(isField(type, "receivers") && Array.isArray(params.receivers)
      ? fault("receivers", receiverFaults(params.receivers.slice(0, MAX_RECEIVERS)))
      : {}),
    ...(isValid("scheduled_for") ? fault("scheduled_for", [scheduleFault(type, params.scheduled_for)]) : {}),
  };
}

type Sends = typeof contract.sendToList | typeof contract.sendToReceivers | typeof contract.sendCustom;

/** The `check` of a send. */
export const errorsOfSend =
  <A extends Sends>(type: CampaignType): Validate<A> =>
  (ctx, isValid) =>
    errorsOf(type, ctx as unknown as Ctx<SendParams>, (field) => isField(type, field) && (isValid as Sound)(field));
