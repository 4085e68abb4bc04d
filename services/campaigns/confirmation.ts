/**
 * The double opt-in mail: a transactional campaign of one recipient, which the list of campaigns does not show. It is
 * written ready for senders, because its recipient is unconfirmed and an expansion would leave such a subscriber out.
 */
import { queryOne, transaction } from "../../models/database/db.ts";
import { writeConfirmation } from "../../models/statements/write-confirmation.ts";
import { call, emitAndForget } from "../call.ts";
import { type Ctx, companyOf } from "../lib/caller.ts";
import { badRequest, notFound } from "../lib/errors.ts";
import { catalogueFor } from "../lib/i18n/languages.ts";
import { newId } from "../lib/ids.ts";
import { confirmationText, greetingName } from "./confirmation-text.ts";

/** The company's own choice, else the configuration marked as default, else the newest. */
const RECIPIENT = `
  select s.email, s.first_name,
    (select id from smtp_configs x where x.company_id = c.id
     order by x.id = c.default_smtp_config_id desc nulls last, x.is_default desc, x.id desc limit 1) as smtp_config_id
  from subscribers s join companies c on c.id = s.company_id
  where s.company_id = $1 and s.id = $2`;

interface Recipient {
  email: string;
  first_name: string;
  smtp_config_id: string | null;
}

interface Wanted {
  subscriber_id: string;
  confirm_url: string;
}

export async function sendConfirmation(ctx: Ctx, wanted: Wanted): Promise<{ campaign_id: string }> {
  const companyId = companyOf(ctx);
  const { subscriber_id: subscriberId, confirm_url: confirmUrl } = wanted;
  const recipient = await queryOne<Recipient>(RECIPIENT, [companyId, subscriberId]);
  if (!recipient) throw notFound();
  const { email, first_name, smtp_config_id: smtpConfigId } = recipient;
  if (!smtpConfigId) throw badRequest("There is no SMTP configuration to send a confirmation through.");
  await call(ctx, "accounts.admitEmails", { emails: 1 });

  const campaignId = newId();
  const text = confirmationText(catalogueFor(ctx.meta.http?.acceptLanguage ?? ""));
  const mail = { campaignId, companyId, smtpConfigId, subscriberId, email, confirmUrl, ...text };
  await transaction((client) => writeConfirmation(client, { ...mail, greetingName: greetingName(first_name) }));
  emitAndForget(ctx, "campaign.queued", { campaignId, companyId });
  return { campaign_id: campaignId };
}
