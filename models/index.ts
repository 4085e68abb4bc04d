/**
 * Models of the tables whose rows are read and written one by one. Opening the database binds them (database/db.ts).
 * Tables that only set-based statements touch have none: models/schema.sql describes those.
 *
 * `associate` names how rows refer to each other, so that model files need not import each other in a circle. Foreign
 * keys belong to the database (`constraints: false`). An `include` joins by the id alone: give it `where: { companyId
 * }` too.
 */
import type { Sequelize } from "sequelize";
import { AccountToken } from "./account-token.ts";
import { ApiKey } from "./api-key.ts";
import { BounceMailbox } from "./bounce-mailbox.ts";
import { Campaign } from "./campaign.ts";
import { Company } from "./company.ts";
import { DkimKey } from "./dkim-key.ts";
import { Draft } from "./draft.ts";
import { EmailEvent } from "./email-event.ts";
import { Hit, HitPart } from "./hit.ts";
import { Import } from "./import.ts";
import { InboundMessage, InboundRaw } from "./inbound-message.ts";
import { InboundSource } from "./inbound-source.ts";
import { RecipientPart } from "./installation.ts";
import { Invitation } from "./invitation.ts";
import { List } from "./list.ts";
import { Media } from "./media.ts";
import { Membership } from "./membership.ts";
import { Plan } from "./plan.ts";
import { RecoveryCode } from "./recovery-code.ts";
import { RefreshToken } from "./refresh-token.ts";
import { SavedBlock } from "./saved-block.ts";
import { Segment } from "./segment.ts";
import { SendChunk } from "./send-chunk.ts";
import { SentEmail } from "./sent-email.ts";
import { SmtpConfig } from "./smtp-config.ts";
import { Subscriber } from "./subscriber.ts";
import { Suppression } from "./suppression.ts";
import { SystemMail } from "./system-mail.ts";
import { Template } from "./template.ts";
import { TrackingDomain } from "./tracking-domain.ts";
import { User } from "./user.ts";
import { WebhookDelivery } from "./webhook-delivery.ts";
import { WebhookEndpoint } from "./webhook-endpoint.ts";

const MODELS = [
  AccountToken,
  ApiKey,
  BounceMailbox,
  Campaign,
  Company,
  DkimKey,
  Draft,
  EmailEvent,
  Hit,
  HitPart,
  Import,
  InboundMessage,
  InboundRaw,
  InboundSource,
  Invitation,
  List,
  Media,
  Membership,
  Plan,
  RecipientPart,
  RecoveryCode,
  RefreshToken,
  SavedBlock,
  Segment,
  SendChunk,
  SentEmail,
  SmtpConfig,
  Subscriber,
  Suppression,
  SystemMail,
  Template,
  TrackingDomain,
  User,
  WebhookDelivery,
  WebhookEndpoint,
];

function associate(): void {
  const constraints = false;
  Company.belongsTo(Plan, { as: "planRow", foreignKey: "plan", constraints });
  Membership.belongsTo(Company, { as: "company", foreignKey: "companyId", constraints });
  Membership.belongsTo(User, { as: "user", foreignKey: "userId", constraints });
  Campaign.belongsTo(Company, { as: "company", foreignKey: "companyId", constraints });
}

/** Models may be bound again: to the next database, in tests. */
export function bindModels(sequelize: Sequelize): void {
  for (const model of MODELS) model.register(sequelize);
  associate();
}
