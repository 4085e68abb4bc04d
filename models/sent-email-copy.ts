import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { company, nullable, primaryKey, required } from "./database/columns.ts";
import { SENT_EMAIL_STATUS } from "./sent-email-status.ts";

export interface CopyAddress {
  /** Counts the addresses of cc and bcc together, from 1. */
  no: number;
  email: string;
  kind: "cc" | "bcc";
}

/** The copies of a mail. An address that stands in both fields gets one. */
export function copyAddresses({ cc, bcc }: { cc: string[] | null; bcc: string[] | null }): CopyAddress[] {
  const kinds = new Map<string, "cc" | "bcc">();
  for (const email of cc ?? []) kinds.set(email, "cc");
  for (const email of bcc ?? []) if (!kinds.has(email)) kinds.set(email, "bcc");
  return [...kinds].map(([email, kind], n) => ({ no: n + 1, email, kind }));
}

/**
 * A copy (cc, bcc) of a sent email, and what became of it. The recorder writes the rows together with the mail's own result,
 * so a mail that was not sent has none. Its status counts in no campaign. Senders write it by set-based SQL.
 */
export class SentEmailCopy extends Model<InferAttributes<SentEmailCopy>, InferCreationAttributes<SentEmailCopy>> {
  declare campaignId: string;
  declare seq: number;
  declare no: number;
  declare companyId: string;
  declare email: string;
  declare kind: "cc" | "bcc";
  declare status: CreationOptional<number>;
  declare attempts: CreationOptional<number>;
  declare nextAttemptAt: CreationOptional<Date | null>;
  declare error: CreationOptional<string | null>;
  declare smtpResponse: CreationOptional<string | null>;
  declare sentAt: CreationOptional<Date | null>;
  declare createdAt: CreationOptional<Date>;

  static register(sequelize: Sequelize): void {
    SentEmailCopy.init(
      {
        campaignId: primaryKey(),
        seq: primaryKey(DataTypes.INTEGER),
        no: primaryKey(DataTypes.INTEGER),
        companyId: company(),
        email: required(DataTypes.TEXT),
        kind: required(DataTypes.TEXT),
        status: required(DataTypes.SMALLINT, SENT_EMAIL_STATUS.queued),
        attempts: required(DataTypes.SMALLINT, 0),
        nextAttemptAt: nullable(DataTypes.DATE),
        error: nullable(DataTypes.TEXT),
        smtpResponse: nullable(DataTypes.TEXT),
        sentAt: nullable(DataTypes.DATE),
        createdAt: required(DataTypes.DATE),
      },
      { sequelize, tableName: "sent_email_copies", updatedAt: false },
    );
  }
}
