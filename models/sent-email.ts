import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { nullable, primaryKey, required } from "./database/columns.ts";
import { SENT_EMAIL_STATUS } from "./sent-email-status.ts";

/**
 * One row per recipient: the authoritative state of every email. The busiest table: no foreign key, no index on the
 * status, and a fillfactor that keeps the update with the server's reply on the same page (HOT). Senders and tracking
 * write it with set-based SQL; the model describes it.
 *
 * Rows are found by their campaign's number and their own, which is negative for recipients excluded from the start
 * (statements/write-audience-slice.ts). They are partitioned by the month in which their campaign's expansion began
 * (recipient_parts), and omit what is computed or stored elsewhere:
 *
 * | omitted                 | because                                                                                        |
 * |-------------------------|------------------------------------------------------------------------------------------------|
 * | id                      | it is computed from the two numbers (services/lib/tokens/mail-id.ts)                           |
 * | company, campaign, time | the campaign has them (`expansion_began_at`)                                                   |
 * | email                   | the subscriber has it; an address that is removed there is written here (triggers on subscribers) |
 * | opens, clicks           | null until there is one                                                                        |
 *
 * An empty email belongs to an erased person (statements/erasure-targets.ts): such a row is never sent, and nothing
 * more is recorded for it.
 *
 * Indexes for the filters of the list of sent emails, and for a Message-ID:
 *
 * | filter     | found by                                                                                             |
 * |------------|------------------------------------------------------------------------------------------------------|
 * | none       | campaigns (company_id, no), newest first, then each campaign's rows by the key (campaign_no, seq)    |
 * | campaign   | the key (campaign_no, seq)                                                                           |
 * | status     | as none or campaign; but for `sent` only in campaigns with failed recipients, or bounces, by the     |
 * |            | indexes of those that bounced, and of those that failed, were suppressed or are in doubt             |
 * | recipient  | the subscriber by address, then (subscriber_id); rows with their own address by (lower(email)) |
 * | Message-ID | read back into the two numbers (MailIds.readMessageId), then the key                                 |
 */
export class SentEmail extends Model<InferAttributes<SentEmail>, InferCreationAttributes<SentEmail>> {
  declare campaignNo: number;
  declare seq: number;
  declare subscriberId: CreationOptional<string | null>;
  declare email: CreationOptional<string | null>;
  declare cc: CreationOptional<string[] | null>;
  declare bcc: CreationOptional<string[] | null>;
  declare variables: CreationOptional<Record<string, unknown> | null>;
  declare status: CreationOptional<number>;
  declare attempts: CreationOptional<number>;
  declare nextAttemptAt: CreationOptional<Date | null>;
  declare error: CreationOptional<string | null>;
  declare smtpResponse: CreationOptional<string | null>;
  declare sentAt: CreationOptional<Date | null>;
  declare openedAt: CreationOptional<Date | null>;
  declare clickedAt: CreationOptional<Date | null>;
  declare bouncedAt: CreationOptional<Date | null>;
  declare opens: CreationOptional<number | null>;
  declare clicks: CreationOptional<number | null>;
  /** Index of the campaign's variant (campaign-variant.ts); null if there is none, and for recipients that wait for the winner. */
  declare variant: CreationOptional<number | null>;

  static register(sequelize: Sequelize): void {
    SentEmail.init(
      {
        campaignNo: primaryKey(DataTypes.INTEGER),
        seq: primaryKey(DataTypes.INTEGER),
        subscriberId: nullable(DataTypes.UUID),
        email: nullable(DataTypes.TEXT),
        cc: nullable(DataTypes.ARRAY(DataTypes.TEXT)),
        bcc: nullable(DataTypes.ARRAY(DataTypes.TEXT)),
        variables: nullable(DataTypes.JSONB),
        status: required(DataTypes.SMALLINT, SENT_EMAIL_STATUS.queued),
        attempts: required(DataTypes.SMALLINT, 0),
        nextAttemptAt: nullable(DataTypes.DATE),
        error: nullable(DataTypes.TEXT),
        smtpResponse: nullable(DataTypes.TEXT),
        sentAt: nullable(DataTypes.DATE),
        openedAt: nullable(DataTypes.DATE),
        clickedAt: nullable(DataTypes.DATE),
        bouncedAt: nullable(DataTypes.DATE),
        opens: nullable(DataTypes.INTEGER),
        clicks: nullable(DataTypes.INTEGER),
        variant: nullable(DataTypes.SMALLINT),
      },
      { sequelize, tableName: "sent_emails", timestamps: false },
    );
  }
}
