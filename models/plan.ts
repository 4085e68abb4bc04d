import { DataTypes, type InferAttributes, type InferCreationAttributes, Model } from "sequelize";
import { defineModel } from "./database/define-model.ts";

/** What a company may do and how much of it. Null is unlimited. */
export class Plan extends Model<InferAttributes<Plan>, InferCreationAttributes<Plan>> {
  declare name: string;
  declare apiCallsPerDay: number | null;
  declare subscribers: number | null;
  declare emailsPerMonth: number | null;
  declare smtpPerHour: number | null;
  declare features: string[];

  view() {
    return {
      plan: this.name,
      features: this.features,
      limits: {
        api_calls_per_day: this.apiCallsPerDay,
        subscribers: this.subscribers,
        emails_per_month: this.emailsPerMonth,
        smtp_per_hour: this.smtpPerHour,
      },
    };
  }
}

defineModel((sequelize) =>
  Plan.init(
    {
      name: { type: DataTypes.TEXT, primaryKey: true },
      apiCallsPerDay: DataTypes.INTEGER,
      subscribers: DataTypes.INTEGER,
      emailsPerMonth: DataTypes.INTEGER,
      smtpPerHour: DataTypes.INTEGER,
      features: { type: DataTypes.ARRAY(DataTypes.TEXT), allowNull: false },
    },
    { sequelize, tableName: "plans", timestamps: false },
  ),
);
