/** Mails the links by which new mailboxes confirm a change of address: queued, limited and charged as other confirmations. */
import type { ServiceBroker } from "moleculer";
import { transaction } from "../../models/database/db.ts";
import { confirmableUntil } from "../../models/statements/ask-to-confirm.ts";
import {
  forgetChange,
  takeChange,
  type UnsentChangeRow,
  unsentChanges,
} from "../../models/statements/change-address.ts";
import { requireQuotaWithin } from "../../models/statements/monthly-quota.ts";
import { activeTrackingDomain } from "../../models/statements/tracking-domains.ts";
import { emitAndForget } from "../call.ts";
import { isServiceError } from "../lib/errors.ts";
import { linksBase } from "../lib/links-base.ts";
import { personToken } from "../lib/tokens/person-token.ts";
import { warnOwners, write } from "./confirmation.ts";

async function linkOf({ company_id, subscriber_id, id, asked_at }: UnsentChangeRow): Promise<string> {
  const token = personToken("address", company_id, subscriber_id, confirmableUntil(asked_at), id);
  return `${linksBase(await activeTrackingDomain(company_id))}/api/emails/public/address/${token}/`;
}

/** Why it could not be mailed, where the company is the reason. */
async function sendOne(broker: ServiceBroker, row: UnsentChangeRow): Promise<string | undefined> {
  const { company_id: companyId, subscriber_id: subscriberId, email, accept_language: acceptLanguage } = row;
  try {
    const confirmUrl = await linkOf(row);
    const campaignId = await transaction(async (client) => {
      if (!(await takeChange(client, row))) return undefined;
      await requireQuotaWithin(client, companyId, 1);
      return write(client, { companyId, subscriberId, newEmail: email, confirmUrl, acceptLanguage });
    });
    if (campaignId) emitAndForget(broker, "campaign.queued", { campaignId, companyId });
    return undefined;
  } catch (error) {
    if (!isServiceError(error)) throw error;
    await transaction(async (client) => {
      if (await takeChange(client, row)) await forgetChange(client, row);
    });
    return error.message;
  }
}

const AT_ONCE = 100;

/** Returns how many were looked at. One that fails is tried again, and holds up no other. */
export async function sendAddressChanges(broker: ServiceBroker): Promise<number> {
  const waiting = await unsentChanges(AT_ONCE);
  for (const row of waiting) {
    if (broker.stopping) break;
    try {
      const reason = await sendOne(broker, row);
      if (reason !== undefined) await warnOwners(broker, row.company_id, reason);
    } catch (error) {
      broker.logger.error(`The mail of a change of address could not be written: ${(error as Error).message}`);
    }
  }
  return waiting.length;
}
