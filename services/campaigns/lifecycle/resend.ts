/**
 * Resends a finished campaign to those who got it and did not open it, as a new campaign that is admitted and charged
 * like any send. The non-openers are determined when it expands (services/campaigns/send/non-openers.ts).
 */
import { type CampaignStatus, type CampaignType, campaignView } from "../../../models/campaign.ts";
import { type Client, query, queryOne } from "../../../models/database/db.ts";
import type { ParamsOf } from "../../contracts.ts";
import type { Validate } from "../../define.ts";
import { type Ctx, companyOf } from "../../lib/caller.ts";
import { notFound, wrongState } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { subjectErrors } from "../../lib/template/template-errors.ts";
import type { contract } from "../contract.ts";
import { writeResend } from "../expansion/write-resend.ts";
import { requireKnownOpeners } from "../known-openers.ts";
import { answerOf, requestHash } from "../send/idempotency.ts";
import { estimateNonOpeners } from "../send/non-openers.ts";
import { type Answer, sendAs } from "../send/send.ts";
import { fieldError } from "../send/send-errors.ts";
import { cutName } from "../send/send-params.ts";

type ResendParams = ParamsOf<"campaigns.resend">;

export const errorsOfResend: Validate<typeof contract.resend> = ({ params }, isValid) =>
  isValid("subject") ? fieldError("subject", subjectErrors(params.subject!)) : {};

const ALLOWED: readonly CampaignStatus[] = ["completed", "partial", "failed"];

interface Original {
  name: string;
  status: CampaignStatus;
  campaign_type: CampaignType;
  smtp_config_id: string;
  recipients_state: string;
  has_server: boolean;
  is_tracked: boolean;
}

const SELECT_ORIGINAL = `
  select c.name, c.status, c.campaign_type, c.smtp_config_id, c.recipients_state, t.tracking_enabled as is_tracked,
    exists (select from smtp_configs s where s.company_id = $1 and s.id = c.smtp_config_id) as has_server
  from campaigns c join campaign_contents t on t.company_id = c.company_id and t.campaign_id = c.id
  where c.company_id = $1 and c.id = $2 and c.deleted_at is null and not c.is_internal`;

async function requireResendable(companyId: string, id: string, client?: Client): Promise<Original> {
  const first = await queryOne<Original>(
    client ? `${SELECT_ORIGINAL} for no key update of c` : SELECT_ORIGINAL,
    [companyId, id],
    client,
  );
  if (!first) throw notFound();
  const { status, recipients_state, has_server, is_tracked } = first;
  if (!ALLOWED.includes(status)) {
    throw wrongState(`Only a sent campaign can be resent to people who did not open it. This one is ${status}.`);
  }
  if (recipients_state !== "kept") {
    throw wrongState(
      "The recipients of this campaign are no longer kept, so it cannot be resent to people who did not open it.",
    );
  }
  if (!is_tracked)
    throw wrongState("This campaign was not tracked, so it cannot be resent to people who did not open it.");
  await requireKnownOpeners(companyId, id, client);
  if (!has_server) throw wrongState("The SMTP configuration of this campaign was deleted.");
  return first;
}

export async function resend(ctx: Ctx<ResendParams>): Promise<Answer> {
  const companyId = companyOf(ctx);
  const { id: firstId, to, subject, name, idempotency_key } = ctx.params;
  const hash = requestHash("resend", { id: firstId.toLowerCase(), to, subject, name });
  // Returns the stored response of the same request, even if the original campaign has changed.
  const earlier = idempotency_key && (await answerOf<Answer>(companyId, idempotency_key, hash));
  if (earlier) return earlier;
  const first = await requireResendable(companyId, firstId);
  const given = {
    name: name ?? cutName(`Again: ${first.name}`),
    smtp_config_id: first.smtp_config_id,
    ...(idempotency_key === undefined ? {} : { idempotency_key }),
  };
  return sendAs(ctx, first.campaign_type, given, {
    hash,
    emails: await estimateNonOpeners(companyId, firstId),
    create: async (client, decided): Promise<Answer> => {
      await requireResendable(companyId, firstId, client);
      const [id, taskId] = [newId(), newId()];
      const { emails, apiKeyId, warnings } = decided;
      const values = { id, taskId, name: given.name.trim(), subject, emails, apiKeyId };
      const row = await writeResend(client, companyId, firstId, values);
      if (!row) throw wrongState("An attachment of this campaign was deleted.");
      await query("select add_count($1, 'campaigns', $1, 1)", [companyId], client);
      return {
        ...campaignView(row),
        company: companyId,
        template: row.template_id,
        lists: [],
        worker_task_id: taskId,
        warnings,
      };
    },
  });
}
