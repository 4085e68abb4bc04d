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
/** Types of webhooks: events, plus a failed recipient, the end of a campaign, and sign-ups through the public form. */
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
 * An event of an email. `delivered` is sent only to webhooks and not stored here. Written by the SQL statement that
 * changes the email's own row, many at a time.
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
  /** Variant of the recipient in an A/B test, for an open or click. */
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
