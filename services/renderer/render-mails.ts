/** Mails for a group of recipients of one campaign. What cannot be rendered is an answer for that recipient, no error. */
import { type CompiledCampaign, compiledCampaign } from "./compiled-campaign.ts";
import type { Rendered } from "./contract.ts";
import type { Mail } from "./mime.ts";
import type { Recipient } from "./scope.ts";

const failed = (error: string): Rendered => ({ ok: false, error });

async function finished({ head, body }: Mail, { sign }: CompiledCampaign): Promise<string> {
  return (sign ? await sign(head, body) : head) + body;
}

async function mailFor(campaign: CompiledCampaign, recipient: Recipient): Promise<Rendered> {
  try {
    const { skeleton } = campaign;
    const mail = skeleton.make(recipient, campaign.scope(recipient), false);
    const hasCopies = Boolean(recipient.cc?.length || recipient.bcc?.length);
    const copy = hasCopies ? skeleton.make(recipient, campaign.scope(recipient), true) : null;
    return {
      ok: true,
      raw: await finished(mail, campaign),
      ...(copy ? { copy: await finished(copy, campaign) } : {}),
      ...(skeleton.tail ? { tail: skeleton.tail } : {}),
      smtputf8: mail.smtputf8,
      eightBit: mail.smtputf8,
    };
  } catch (error) {
    return failed((error as Error).message);
  }
}

export async function renderMails(campaignId: string, recipients: readonly Recipient[]): Promise<Rendered[]> {
  const campaign = await compiledCampaign(campaignId);
  if (typeof campaign === "string") return recipients.map(() => failed(campaign));
  return Promise.all(recipients.map((recipient) => mailFor(campaign, recipient)));
}
