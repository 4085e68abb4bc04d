/** Renders a template as a sample recipient's email for a spam filter: unsigned and untracked. */
import { Company } from "../../../models/company.ts";
import { SmtpConfig } from "../../../models/smtp-config.ts";
import { activeTrackingDomain } from "../../../models/statements/tracking-domains.ts";
import { notFound } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { keysFor } from "../../lib/secrets.ts";
import { installation, unsubscribeUrl } from "../compiled-campaign.ts";
import { type Content, companyVariables } from "../content.ts";
import { mailBodies } from "../heavy.ts";
import { skeletonOf } from "../mime/skeleton.ts";
import { scopeOf } from "../program/scope.ts";

/** Used if the company has no SMTP configuration yet. */
const NO_SENDER = { senderName: "", senderEmail: "sender@example.com", replyToEmail: null, host: "mail.example.com" };
const TO = "subscriber@example.com";

type Source = Pick<Content, "subject" | "body">;
type Sender = Pick<SmtpConfig, "senderName" | "senderEmail" | "replyToEmail" | "host">;

async function senderOf({ id: companyId, defaultSmtpConfigId: id }: Company): Promise<Sender> {
  return (id && (await SmtpConfig.findOne({ where: { companyId, id } }))) || NO_SENDER;
}

async function contentOf(company: Company, sender: Sender, { subject, body }: Source): Promise<Content> {
  const { id: companyId } = company;
  return {
    campaignId: newId(),
    companyId,
    subject,
    body,
    senderName: sender.senderName,
    senderEmail: sender.senderEmail,
    replyToEmail: sender.replyToEmail,
    listName: company.name,
    listId: companyId,
    companyName: company.name,
    footerText: company.footerText,
    isTransactional: false,
    trackingEnabled: false,
    trackingDomain: await activeTrackingDomain(companyId),
    attachments: [],
    dkim: [],
    campaignTokenId: null,
  };
}

export interface SampleMail {
  message: Buffer;
  from: string;
  to: string;
  /** The server that would deliver it. */
  hostname: string;
}

export async function sampleMail(companyId: string, source: Source): Promise<SampleMail> {
  const company = await Company.findByPk(companyId);
  if (!company) throw notFound();
  const sender = await senderOf(company);
  const content = await contentOf(company, sender, source);
  const here = installation(content.trackingDomain);
  const bodies = await mailBodies(companyId, content);
  const skeleton = skeletonOf(content, bodies, here, keysFor("link")[0]!, null);
  const recipient = { id: newId(), email: TO };
  const scope = scopeOf(recipient, {
    fallback: companyVariables(content),
    tokens: null,
    preferencesUrl: () => unsubscribeUrl(here.baseUrl, recipient),
  });
  const message = Buffer.from(skeleton.make(recipient, scope, false).text.toString(), "latin1");
  return { message, from: content.senderEmail, to: TO, hostname: sender.host };
}
