/**
 * Every table has its model; opening the database binds them all (database/db.ts), in whatever order files are imported.
 *
 * How rows refer to each other stands in `associate`, on one page: a model's file that named its neighbours would import
 * them in a circle. Foreign keys are the database's business (`constraints: false`), and where the rows belong to a company
 * the keys there are composite with it. An `include` joins by the id alone: give it `where: { companyId }` as well.
 */
import type { Sequelize } from "sequelize";
import { AccountToken } from "./account-token.ts";
import { AddressChange, FormerAddress } from "./address-change.ts";
import { ApiKey } from "./api-key.ts";
import { AuditEntry } from "./audit-entry.ts";
import { BounceMailbox } from "./bounce-mailbox.ts";
import { Campaign } from "./campaign.ts";
import { CampaignContent } from "./campaign-content.ts";
import { CampaignCount } from "./campaign-count.ts";
import { CampaignReceiver } from "./campaign-receiver.ts";
import { CampaignVariant, CampaignWinner } from "./campaign-variant.ts";
import { Company } from "./company.ts";
import { CompanyDay } from "./company-day.ts";
import { Counter } from "./counter.ts";
import { DkimKey } from "./dkim-key.ts";
import { Draft } from "./draft.ts";
import { EmailEvent } from "./email-event.ts";
import { ErasedAddress } from "./erased-address.ts";
import { Hit, HitAgent, HitPart } from "./hit.ts";
import { HourLedger } from "./hour-ledger.ts";
import { IdempotencyKey } from "./idempotency-key.ts";
import { Import, ImportError, ImportPart } from "./import.ts";
import { InboundMessage, InboundRaw } from "./inbound-message.ts";
import { InboundReport, InboundSeen, InboundSource } from "./inbound-source.ts";
import { Installation, RecipientPart } from "./installation.ts";
import { Invitation } from "./invitation.ts";
import { List } from "./list.ts";
import { ListMember } from "./list-member.ts";
import { ListWish } from "./list-wish.ts";
import { Media } from "./media.ts";
import { MediaPart } from "./media-part.ts";
import { Membership } from "./membership.ts";
import { Migration, MigrationStep } from "./migration.ts";
import { OperatorSession } from "./operator-session.ts";
import { Plan } from "./plan.ts";
import { RecoveryCode } from "./recovery-code.ts";
import { RefreshToken } from "./refresh-token.ts";
import { ReplyPattern } from "./reply-pattern.ts";
import { Segment } from "./segment.ts";
import { SendChunk } from "./send-chunk.ts";
import { SentEmail } from "./sent-email.ts";
import { SentEmailCopy } from "./sent-email-copy.ts";
import { SmtpConfig } from "./smtp-config.ts";
import { Subscriber } from "./subscriber.ts";
import { Suppression } from "./suppression.ts";
import { SystemMail } from "./system-mail.ts";
import { Template } from "./template.ts";
import { TemplateVersion } from "./template-version.ts";
import { TrackingDomain } from "./tracking-domain.ts";
import { UnsavedReceiver } from "./unsaved-receiver.ts";
import { UnsentConfirmation } from "./unsent-confirmation.ts";
import { UsageMonth } from "./usage-month.ts";
import { User } from "./user.ts";
import { WarmupLedger } from "./warmup-ledger.ts";
import { WebhookDelivery } from "./webhook-delivery.ts";
import { WebhookEndpoint } from "./webhook-endpoint.ts";

const MODELS = [
  AccountToken,
  AddressChange,
  FormerAddress,
  ApiKey,
  AuditEntry,
  BounceMailbox,
  Campaign,
  CampaignContent,
  CampaignCount,
  CampaignReceiver,
  CampaignVariant,
  CampaignWinner,
  Company,
  CompanyDay,
  Counter,
  DkimKey,
  Draft,
  EmailEvent,
  ErasedAddress,
  Hit,
  HitAgent,
  HitPart,
  HourLedger,
  IdempotencyKey,
  Import,
  ImportError,
  ImportPart,
  InboundMessage,
  InboundRaw,
  InboundReport,
  InboundSeen,
  InboundSource,
  Installation,
  Invitation,
  List,
  ListMember,
  ListWish,
  Media,
  MediaPart,
  Membership,
  Migration,
  MigrationStep,
  OperatorSession,
  Plan,
  RecipientPart,
  RecoveryCode,
  RefreshToken,
  ReplyPattern,
  Segment,
  SendChunk,
  SentEmail,
  SentEmailCopy,
  SmtpConfig,
  Subscriber,
  Suppression,
  SystemMail,
  Template,
  TemplateVersion,
  TrackingDomain,
  UnsavedReceiver,
  UnsentConfirmation,
  UsageMonth,
  User,
  WarmupLedger,
  WebhookDelivery,
  WebhookEndpoint,
];

function associate(): void {
  const constraints = false;

  Company.belongsTo(Plan, { as: "planRow", foreignKey: "plan", constraints });
  Company.belongsTo(SmtpConfig, { as: "defaultSmtpConfig", foreignKey: "defaultSmtpConfigId", constraints });
  Company.hasMany(Membership, { as: "memberships", foreignKey: "companyId", constraints });
  Company.hasMany(ApiKey, { as: "apiKeys", foreignKey: "companyId", constraints });
  Membership.belongsTo(Company, { as: "company", foreignKey: "companyId", constraints });
  Membership.belongsTo(User, { as: "user", foreignKey: "userId", constraints });
  User.hasMany(Membership, { as: "memberships", foreignKey: "userId", constraints });
  User.hasMany(RefreshToken, { as: "refreshTokens", foreignKey: "userId", constraints });
  AccountToken.belongsTo(User, { as: "user", foreignKey: "userId", constraints });
  Invitation.belongsTo(Company, { as: "company", foreignKey: "companyId", constraints });
  Invitation.belongsTo(User, { as: "inviter", foreignKey: "invitedBy", constraints });
  RecoveryCode.belongsTo(User, { as: "user", foreignKey: "userId", constraints });
  RefreshToken.belongsTo(User, { as: "user", foreignKey: "userId", constraints });

  List.hasMany(ListMember, { as: "members", foreignKey: "listId", constraints });
  Subscriber.hasMany(ListMember, { as: "listMembers", foreignKey: "subscriberId", constraints });
  ListMember.belongsTo(List, { as: "list", foreignKey: "listId", constraints });
  ListMember.belongsTo(Subscriber, { as: "subscriber", foreignKey: "subscriberId", constraints });
  Media.hasMany(MediaPart, { as: "parts", foreignKey: "mediaId", constraints });

  Campaign.belongsTo(Company, { as: "company", foreignKey: "companyId", constraints });
  Campaign.belongsTo(SmtpConfig, { as: "smtpConfig", foreignKey: "smtpConfigId", constraints });
  Campaign.belongsTo(List, { as: "list", foreignKey: "listId", constraints });
  Campaign.belongsTo(Segment, { as: "segment", foreignKey: "segmentId", constraints });
  Campaign.belongsTo(Template, { as: "template", foreignKey: "templateId", constraints });
  Campaign.hasOne(CampaignContent, { as: "content", foreignKey: "campaignId", constraints });
  Campaign.hasMany(CampaignReceiver, { as: "receivers", foreignKey: "campaignId", constraints });
  Campaign.hasMany(CampaignVariant, { as: "variants", foreignKey: "campaignId", constraints });
  Campaign.hasOne(CampaignWinner, { as: "winner", foreignKey: "campaignId", constraints });
  Campaign.hasMany(CampaignCount, { as: "counts", foreignKey: "campaignId", constraints });
  Campaign.hasMany(SendChunk, { as: "chunks", foreignKey: "campaignId", constraints });
  Campaign.hasMany(SentEmail, { as: "sentEmails", foreignKey: "campaignNo", sourceKey: "no", constraints });
  SentEmail.belongsTo(Campaign, { as: "campaign", foreignKey: "campaignNo", targetKey: "no", constraints });
  Campaign.hasMany(SentEmailCopy, { as: "copies", foreignKey: "campaignId", constraints });
  SentEmail.belongsTo(Subscriber, { as: "subscriber", foreignKey: "subscriberId", constraints });
  EmailEvent.belongsTo(SentEmail, { as: "sentEmail", foreignKey: "sentEmailId", targetKey: "id", constraints });
  EmailEvent.belongsTo(Campaign, { as: "campaign", foreignKey: "campaignId", constraints });

  WebhookEndpoint.hasMany(WebhookDelivery, { as: "deliveries", foreignKey: "endpointId", constraints });
  WebhookDelivery.belongsTo(WebhookEndpoint, { as: "endpoint", foreignKey: "endpointId", constraints });
}

/** Models may be bound again: to the next database, in tests. */
export function bindModels(sequelize: Sequelize): void {
  for (const model of MODELS) model.register(sequelize);
  associate();
}
