import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { company, primaryKey, required } from "./database/columns.ts";

/** Mails, copies included, whose recipients were written, by company and UTC month: what the monthly quota counts (statements/plan-usage.ts). */
export class UsageMonth extends Model<InferAttributes<UsageMonth>, InferCreationAttributes<UsageMonth>> {
  declare companyId: string;
  declare month: string;
  declare emails: CreationOptional<number>;

  static register(sequelize: Sequelize): void {
    UsageMonth.init(
      {
        companyId: company(),
        month: primaryKey(DataTypes.DATEONLY),
        emails: required(DataTypes.BIGINT, 0),
      },
      { sequelize, tableName: "usage_months", timestamps: false },
    );
  }
}
