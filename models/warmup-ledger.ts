import { DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from "sequelize";
import { company, nullable, primaryKey, required } from "./database/columns.ts";

/** A ramp of mails a day for a server that nobody knows yet: `start_per_day`, times `factor` with each day, at most `until_per_day`. */
export interface Warmup {
  start_per_day: number;
  factor: number;
  until_per_day: number;
}

/**
 * How many mails may have left through an SMTP configuration that is being warmed up, on the last day on which any did. SQL
 * only (services/smtp-sender/limits/warmup-ledger.ts).
 */
export class WarmupLedger extends Model<InferAttributes<WarmupLedger>, InferCreationAttributes<WarmupLedger>> {
  declare smtpConfigId: string;
  declare companyId: string;
  /** By the clock of the company's time zone. */
  declare day: string;
  /** 1 on the first day on which mail went out; days without any are not counted. */
  declare step: number;
  declare taken: number;
  /** More wanted to go on that day: the begin of the next one. */
  declare fullUntil: Date | null;

  static register(sequelize: Sequelize): void {
    WarmupLedger.init(
      {
        smtpConfigId: primaryKey(),
        companyId: company(),
        day: required(DataTypes.DATEONLY),
        step: required(DataTypes.INTEGER),
        taken: required(DataTypes.INTEGER),
        fullUntil: nullable(DataTypes.DATE),
      },
      { sequelize, tableName: "warmup_ledgers", timestamps: false },
    );
  }
}
