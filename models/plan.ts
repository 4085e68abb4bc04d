import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { nullable, primaryKey, required } from "./database/columns.ts";

/** Limits and features of a company. Null is unlimited. */
export class Plan extends Model<InferAttributes<Plan>, InferCreationAttributes<Plan>> {
  declare name: string;
  declare apiCallsPerDay: CreationOptional<number | null>;
  declare subscribers: CreationOptional<number | null>;
  declare emailsPerMonth: CreationOptional<number | null>;
  declare smtpPerHour: CreationOptional<number | null>;
  declare mediaBytes: CreationOptional<number | null>;
  declare features: CreationOptional<string[]>;

  static register(sequelize: Sequelize): void {
    Plan.init(
      {
        name: primaryKey(DataTypes.TEXT),
        apiCallsPerDay: nullable(DataTypes.INTEGER),
        subscribers: nullable(DataTypes.INTEGER),
        emailsPerMonth: nullable(DataTypes.INTEGER),
        smtpPerHour: nullable(DataTypes.INTEGER),
        mediaBytes: nullable(DataTypes.BIGINT),
        features: required(DataTypes.ARRAY(DataTypes.TEXT), []),
      },
      { sequelize, tableName: "plans", timestamps: false },
    );
  }

  view() {
    return {
      plan: this.name,
      features: this.features,
      limits: {
        api_calls_per_day: this.apiCallsPerDay,
        subscribers: this.subscribers,
        emails_per_month: this.emailsPerMonth,
        smtp_per_hour: this.smtpPerHour,
        media_bytes: this.mediaBytes,
      },
    };
  }
}
