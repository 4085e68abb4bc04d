import { DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from "sequelize";
import { primaryKey, required } from "./database/columns.ts";

/**
 * How many mails of a company with a limit by the hour may have left, and until when: what is left of the count when Redis
 * loses it. `epoch` names the count that may go on. SQL only (services/smtp-sender/limits/hour-ledger.ts).
 */
export class HourLedger extends Model<InferAttributes<HourLedger>, InferCreationAttributes<HourLedger>> {
  declare companyId: string;
  declare epoch: string;
  /** Milliseconds of the clock -> mails that may leave until then. */
  declare taken: Record<string, number>;

  static register(sequelize: Sequelize): void {
    HourLedger.init(
      { companyId: primaryKey(), epoch: required(DataTypes.TEXT), taken: required(DataTypes.JSONB, {}) },
      { sequelize, tableName: "hour_ledgers", timestamps: false },
    );
  }
}
