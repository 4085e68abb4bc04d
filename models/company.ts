import { type CreationOptional, DataTypes, type InferAttributes, type InferCreationAttributes, Model } from "sequelize";
import { newId } from "../services/lib/ids.ts";
import { defineModel } from "./database/define-model.ts";

/** A tenant: the owner of everything else. */
export class Company extends Model<InferAttributes<Company>, InferCreationAttributes<Company>> {
  declare id: CreationOptional<string>;
  declare name: string;
  declare plan: string;
  declare replyToEmail: CreationOptional<string | null>;
  declare website: CreationOptional<string | null>;
  declare footerText: CreationOptional<string>;
  declare doubleOptIn: CreationOptional<boolean>;
  declare defaultSmtpConfigId: CreationOptional<string | null>;
  declare trackingEnabled: CreationOptional<boolean>;
  declare sendingPausedAt: CreationOptional<Date | null>;
  declare createdAt: CreationOptional<Date>;
  declare updatedAt: CreationOptional<Date>;

  view() {
    return {
      id: this.id,
      name: this.name,
      reply_to_email: this.replyToEmail,
      website: this.website,
      footer_text: this.footerText,
      double_opt_in: this.doubleOptIn,
      default_smtp_config_id: this.defaultSmtpConfigId,
      tracking_enabled: this.trackingEnabled,
      created_at: this.createdAt.toISOString(),
      updated_at: this.updatedAt.toISOString(),
    };
  }
}

defineModel((sequelize) =>
  Company.init(
    {
      id: { type: DataTypes.UUID, primaryKey: true, defaultValue: newId },
      name: { type: DataTypes.TEXT, allowNull: false },
      plan: { type: DataTypes.TEXT, allowNull: false },
      replyToEmail: DataTypes.TEXT,
      website: DataTypes.TEXT,
      footerText: { type: DataTypes.TEXT, defaultValue: "" },
      doubleOptIn: { type: DataTypes.BOOLEAN, defaultValue: false },
      defaultSmtpConfigId: DataTypes.UUID,
      trackingEnabled: { type: DataTypes.BOOLEAN, defaultValue: true },
      sendingPausedAt: DataTypes.DATE,
      createdAt: DataTypes.DATE,
      updatedAt: DataTypes.DATE,
    },
    { sequelize, tableName: "companies" },
  ),
);
