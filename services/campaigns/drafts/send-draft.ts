/**
 * Sends a draft: validates it like a send of its kind, and deletes it in the transaction that stores the campaign.
 * Concurrent sends therefore create one campaign, and a refused send leaves the draft. An Idempotency-Key is bound to
 * the draft's id, because its body is deleted afterwards.
 */
import { compileValidator } from "../../../mixins/ajv-validator.ts";
import type { CampaignType } from "../../../models/campaign.ts";
import { type Client, query } from "../../../models/database/db.ts";
import { Draft, type DraftKind } from "../../../models/draft.ts";
import type { ActionContract } from "../../define.ts";
import { type Ctx, companyOf } from "../../lib/caller.ts";
import { conflict, type FieldErrors, invalid, notFound } from "../../lib/errors.ts";
import { addFieldError } from "../../lib/field-errors.ts";
import { READ_ONLY_FIELDS, unknownFieldErrors } from "../../lib/unknown-fields.ts";
import { sending } from "../contract-sending.ts";
import { answerOf, requestHash } from "../send/idempotency.ts";
import { type Answer, sendAs } from "../send/send.ts";
import { sendErrors } from "../send/send-errors.ts";
import { isField, type SendParams } from "../send/send-params.ts";
import { findDraft, requireUnchanged } from "./drafts.ts";

interface Kind {
  type: CampaignType;
  contract: ActionContract;
  errorsOf(params: unknown): FieldErrors;
}

const kind = (type: CampaignType, contract: ActionContract): Kind => ({
  type,
  contract,
  errorsOf: compileValidator(contract.params),
});

const KINDS: Record<DraftKind, Kind> = {
  "to-list": kind("to_list", sending.sendToList),
  "to-receivers": kind("to_receivers", sending.sendToReceivers),
  custom: kind("custom", sending.sendCustom),
};

/** Returns the errors that the send request would have. */
async function errorsOfDraft(
  companyId: string,
  { type, contract, errorsOf }: Kind,
  body: SendParams,
): Promise<FieldErrors> {
  const errors = errorsOf(body);
  const isValid = (field: keyof SendParams) => isField(type, field) && body[field] !== undefined && !(field in errors);
  const further = await sendErrors(type, companyId, body, isValid);
  for (const [field, sentences] of Object.entries(further)) {
    for (const sentence of sentences) addFieldError(errors, field, sentence);
  }
  const fieldNames = Object.keys(contract.params.properties as object).filter((name) => name !== "idempotency_key");
  const ignored = new Set<string>([...fieldNames, ...READ_ONLY_FIELDS, ...(contract.ignoredFields ?? [])]);
  const unknown = Object.keys(body).filter((name) => !ignored.has(name));
  return { ...errors, ...unknownFieldErrors(unknown, fieldNames, "all") };
}

const requestOf = ({ name, body }: Draft) => ({ name, ...body }) as unknown as SendParams;

/** Returns what sending it now would be refused for, by field; empty if nothing is wrong. */
export async function checkDraft(companyId: string, id: string): Promise<{ errors: FieldErrors }> {
  const draft = await findDraft(companyId, id);
  return { errors: await errorsOfDraft(companyId, KINDS[draft.kind], requestOf(draft)) };
}

// Deletes exactly the version that was validated.
const CLAIM = `
  delete from drafts where company_id = $1 and id = $2
  returning name = $3 and kind = $4 and body = $5::jsonb as is_same`;

/** Waits for concurrent sends and changes of the draft. */
async function claim(client: Client, draft: Draft): Promise<void> {
  const { companyId, id, name, kind: draftKind, body } = draft;
  const values = [companyId, id, name, draftKind, JSON.stringify(body)];
  const [gone] = await query<{ is_same: boolean }>(CLAIM, values, client);
  if (!gone) throw notFound();
  if (!gone.is_same) throw conflict("The draft changed while it was being sent. Try again.");
}

type SendDraftParams = { id: string; idempotency_key?: string; unchanged_since?: string };

export async function sendDraft(ctx: Ctx<SendDraftParams>): Promise<Answer> {
  const companyId = companyOf(ctx);
  const { id, idempotency_key: key, unchanged_since } = ctx.params;
  const hash = requestHash("draft", { id: id.toLowerCase() });
  const answered = async () => (key === undefined ? undefined : answerOf<Answer>(companyId, key, hash));
  const earlier = await answered();
  if (earlier) return earlier;

  const draft = await findDraft(companyId, id).catch(async (error: Error) => {
    // A request with the same key may have finished since the first check.
    const first = await answered();
    if (!first) throw error;
    return first;
  });
  if (!(draft instanceof Draft)) return draft;
  // Later changes are found when the draft is claimed.
  requireUnchanged(draft, unchanged_since);
  const kind = KINDS[draft.kind];
  const body = requestOf(draft);
  const errors = await errorsOfDraft(companyId, kind, body);
  if (Object.keys(errors).length > 0) throw invalid(errors);
  const given = { ...body, ...(key === undefined ? {} : { idempotency_key: key }) };
  return sendAs(ctx, kind.type, given, { hash, claim: (client) => claim(client, draft) });
}
