import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { company, id, nullable, required } from "./database/columns.ts";

export const EMAIL_EVENT_TYPES = ["delivered", "opened", "clicked", "bounced", "unsubscribed", "complained"] as const;
/** What webhooks can get: events, and what is none: a recipient that failed, the end of a campaign, people who came by the public form. */
export const WEBHOOK_EVENT_TYPES = [
  ...EMAIL_EVENT_TYPES,
  "failed",
  "campaign.completed",
  "subscribed",
  "confirmed",
] as const;
export type WebhookEventType = (typeof WEBHOOK_EVENT_TYPES)[number];
export type EmailEventType = (typeof EMAIL_EVENT_TYPES)[number];

/**
 * What happened to a mail. `delivered` goes to webhooks only and is no row here. Written by SQL in the statement that changes
 * the mail's own row, many at a time.
 */
export class EmailEvent extends Model<InferAttributes<EmailEvent>, InferCreationAttributes<EmailEvent>> {
  declare id: CreationOptional<string>;
  declare companyId: string;
  declare campaignId: CreationOptional<string | null>;
  declare sentEmailId: CreationOptional<string | null>;
  declare type: EmailEventType;
  declare recipient: string;
  declare machine: CreationOptional<boolean>;
  declare link: CreationOptional<number | null>;
  declare isFirst: CreationOptional<boolean>;
  declare isFirstOfLink: CreationOptional<boolean>;
  declare metadata: CreationOptional<Record<string, unknown>>;
  declare createdAt: CreationOptional<Date>;
  /** Of an open or click: the variant of its recipient in an A/B test. */
  declare variant: CreationOptional<number | null>;

  static register(sequelize: Sequelize): void {
    EmailEvent.init(
      {
        id: id(),
        companyId: company(),
        campaignId: nullable(DataTypes.UUID),
        sentEmailId: nullable(DataTypes.UUID),
        type: required(DataTypes.TEXT),
        recipient: required(DataTypes.TEXT),
        machine: required(DataTypes.BOOLEAN, false),
        link: nullable(DataTypes.SMALLINT),
        isFirst: required(DataTypes.BOOLEAN, false),
        isFirstOfLink: required(DataTypes.BOOLEAN, false),
        metadata: required(DataTypes.JSONB, {}),
        createdAt: required(DataTypes.DATE),
        variant: nullable(DataTypes.SMALLINT),
      },
      { sequelize, tableName: "email_events", updatedAt: false },
    );
  }

  view() {
    return {
      id: this.id,
      type: this.type,
      recipient: this.recipient,
      sent_email_id: this.sentEmailId,
      campaign_id: this.campaignId,
      metadata: this.metadata,
      timestamp: this.createdAt.toISOString(),
    };
  }
}
