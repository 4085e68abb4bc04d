/**
 * Sends confirmation emails as transactional campaigns of one recipient, hidden from the list of campaigns. The
 * recipient is written directly, because expansion would skip an unconfirmed subscriber. Public subscribe only queues a
 * row, so that its response time does not reveal whether an email is sent.
 */
import type { ServiceBroker } from "moleculer";
import { type Client, query, queryOne, sequelize, transaction } from "../../models/database/db.ts";
import {
  confirmableUntil,
  forgetAsking,
  takeConfirmation,
  type UnsentConfirmationRow,
  unsentConfirmations,
} from "../../models/statements/ask-to-confirm.ts";
import { CONFIRMATION_SERVER } from "../../models/statements/confirmation-server.ts";
import { requireQuotaWithin } from "../../models/statements/monthly-quota.ts";
import { noticeToOwners } from "../../models/statements/queue-system-mail.ts";
import { activeTrackingDomain } from "../../models/statements/tracking-domains.ts";
import { emitAndForget } from "../call.ts";
import type { StoredBranding } from "../lib/branding/branding.ts";
import { badRequest, isServiceError, notFound } from "../lib/errors.ts";
import type { Catalogue } from "../lib/i18n/en.ts";
import { catalogueFor } from "../lib/i18n/languages.ts";
import { newId } from "../lib/ids.ts";
import { linksBase } from "../lib/links-base.ts";
import { personToken } from "../lib/tokens/person-token.ts";
import { brandVariables, confirmationText, greetingName } from "./confirmation-text.ts";
import { writeConfirmation } from "./expansion/write-confirmation.ts";

const RECIPIENT = `
  select s.email, s.first_name, c.name as company_name, c.branding, ${CONFIRMATION_SERVER} as smtp_config_id
  from subscribers s join companies c on c.id = s.company_id
  where s.company_id = $1 and s.id = $2`;

interface Recipient {
  email: string;
  first_name: string;
  company_name: string;
  branding: StoredBranding;
  smtp_config_id: string | null;
}

/** Same email, worded for a change of address. */
const newAddressCatalogue = (catalogue: Catalogue): Catalogue => ({
  ...catalogue,
  confirm: { ...catalogue.confirm, title: catalogue.changeAddress.title },
  confirmationMail: catalogue.changeAddressMail,
});

const NO_SERVER = "No mail server is connected to send it with.";

interface Mail {
  companyId: string;
  subscriberId: string;
  /** New address, for a change of address. */
  newEmail?: string;
  confirmUrl: string;
  acceptLanguage: string;
}

/** Returns the campaign's id. Throws if the company has no SMTP configuration or its monthly quota is used up. */
async function write(client: Client, mail: Mail): Promise<string> {
  const { companyId, subscriberId, newEmail, confirmUrl, acceptLanguage } = mail;
  const recipient = await queryOne<Recipient>(RECIPIENT, [companyId, subscriberId], client);
  if (!recipient) throw notFound();
  const { first_name, branding, smtp_config_id: smtpConfigId } = recipient;
  if (!smtpConfigId) throw badRequest(NO_SERVER);
  const campaignId = newId();
  const catalogue = catalogueFor(acceptLanguage, branding.language);
  const text = confirmationText(newEmail === undefined ? catalogue : newAddressCatalogue(catalogue), branding);
  const variables = {
    ...brandVariables(branding),
    confirm_url: confirmUrl,
    company_name: branding.name ?? recipient.company_name,
    greeting_name: greetingName(first_name),
  };
  // The new address is not proven to be the subscriber's, so events of this email must not be recorded for them.
  const to =
    newEmail === undefined ? { subscriberId, email: recipient.email } : { subscriberId: null, email: newEmail };
  await writeConfirmation(client, { campaignId, companyId, smtpConfigId, ...to, variables, ...text });
  return campaignId;
}

/** Kind of confirmation email that is queued as rows. */
export interface QueuedMails<Row> {
  /** Used in the log. */
  name: string;
  unsent(limit: number): Promise<Row[]>;
  /** False if another node has taken it. */
  take(client: Client, row: Row): Promise<boolean>;
  /** Called if the email was not sent; it may be requested again. */
  forget(client: Client, row: Row): Promise<unknown>;
  /** Path of the link below the public pages. */
  pathOf(row: Row): string;
  /** New address, for a change of address. */
  newEmail?(row: Row): string;
}

type QueuedRow = Pick<UnsentConfirmationRow, "company_id" | "subscriber_id" | "accept_language">;

/** Sends one queued confirmation, once on any number of nodes. Returns the reason if the company cannot send it. */
async function sendQueued<Row extends QueuedRow>(
  broker: ServiceBroker,
  { take, forget, pathOf, newEmail }: QueuedMails<Row>,
  row: Row,
): Promise<string | undefined> {
  const { company_id: companyId, subscriber_id: subscriberId, accept_language: acceptLanguage } = row;
  try {
    const confirmUrl = `${linksBase(await activeTrackingDomain(companyId))}/api/emails/public/${pathOf(row)}`;
    const to = newEmail ? { newEmail: newEmail(row) } : {};
    const campaignId = await transaction(async (client) => {
      if (!(await take(client, row))) return undefined;
      await requireQuotaWithin(client, companyId, 1);
      return write(client, { companyId, subscriberId, ...to, confirmUrl, acceptLanguage });
    });
    if (campaignId) emitAndForget(broker, "campaign.queued", { campaignId, companyId });
    return undefined;
  } catch (error) {
    if (!isServiceError(error)) throw error;
    await transaction(async (client) => {
      if (await take(client, row)) await forget(client, row);
    });
    return error.message;
  }
}

// Warn once per day only, because anyone can submit the form.
const WARNED = `
  update companies set confirmation_warned_at = now()
  where id = $1 and (confirmation_warned_at is null or confirmation_warned_at < now() - interval '1 day')
  returning name`;

async function warnOwners(broker: ServiceBroker, companyId: string, reason: string): Promise<void> {
  const [company] = await query<{ name: string }>(WARNED, [companyId]);
  if (!company) return;
  broker.logger.warn({ companyId, reason }, "Confirmation email could not be sent");
  await sequelize().transaction((within) =>
    noticeToOwners(companyId, "confirmation_unsent", { company: company.name, reason }, within),
  );
}

const AT_ONCE = 100;

/** Returns how many were processed. A failed one is retried and does not block others. */
export async function sendAllQueued<Row extends QueuedRow>(
  broker: ServiceBroker,
  mails: QueuedMails<Row>,
): Promise<number> {
  const waiting = await mails.unsent(AT_ONCE);
  for (const row of waiting) {
    if (broker.stopping) break;
    try {
      const reason = await sendQueued(broker, mails, row);
      if (reason !== undefined) await warnOwners(broker, row.company_id, reason);
    } catch (error) {
      broker.logger.error(`${mails.name} could not be written: ${(error as Error).message}`);
    }
  }
  return waiting.length;
}

const CONFIRMATIONS: QueuedMails<UnsentConfirmationRow> = {
  name: "A confirmation",
  unsent: unsentConfirmations,
  take: takeConfirmation,
  forget: forgetAsking,
  pathOf: ({ company_id, subscriber_id, asked_at }) =>
    `confirm/${personToken("confirm", company_id, subscriber_id, confirmableUntil(asked_at))}/`,
};

export const sendConfirmations = (broker: ServiceBroker): Promise<number> => sendAllQueued(broker, CONFIRMATIONS);
