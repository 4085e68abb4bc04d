import { type CreationOptional, DataTypes, type InferAttributes, type InferCreationAttributes, Model } from "sequelize";
import { newId } from "../services/lib/ids.ts";
import { defineModel } from "./database/define-model.ts";

/** A relay that a company sends through. Password and DKIM key are envelopes of services/lib/secrets.ts, sealed to the id. */
export class SmtpConfig extends Model<InferAttributes<SmtpConfig>, InferCreationAttributes<SmtpConfig>> {
  declare id: CreationOptional<string>;
  declare companyId: string;
  declare name: string;
  declare host: string;
  declare port: number;
  declare username: string;
  declare passwordSealed: Buffer | null;
  declare useTls: CreationOptional<boolean>;
  declare senderName: CreationOptional<string>;
  declare senderEmail: string;
  declare replyToEmail: CreationOptional<string | null>;
  declare dkimDomain: CreationOptional<string | null>;
  declare dkimSelector: CreationOptional<string | null>;
  declare dkimKeySealed: CreationOptional<Buffer | null>;
  declare maxConnections: CreationOptional<number>;
  declare maxPerSecond: CreationOptional<number | null>;
  declare isDefault: CreationOptional<boolean>;
  declare createdAt: CreationOptional<Date>;
  declare updatedAt: CreationOptional<Date>;

  view() {
    return {
      id: this.id,
      name: this.name,
      host: this.host,
      port: this.port,
      use_tls: this.useTls,
      sender_name: this.senderName,
      sender_email: this.senderEmail,
      reply_to_email: this.replyToEmail,
      dkim: this.dkimDomain === null ? null : { domain: this.dkimDomain, selector: this.dkimSelector ?? "" },
      max_connections: this.maxConnections,
      max_per_second: this.maxPerSecond,
      is_default: this.isDefault,
      created_at: this.createdAt.toISOString(),
    };
  }
}

defineModel((sequelize) =>
  SmtpConfig.init(
    {
      id: { type: DataTypes.UUID, primaryKey: true, defaultValue: newId },
      companyId: { type: DataTypes.UUID, primaryKey: true },
      name: { type: DataTypes.TEXT, allowNull: false },
      host: { type: DataTypes.TEXT, allowNull: false },
      port: { type: DataTypes.INTEGER, allowNull: false },
      username: { type: DataTypes.TEXT, defaultValue: "" },
      passwordSealed: DataTypes.BLOB,
      useTls: { type: DataTypes.BOOLEAN, defaultValue: true },
      senderName: { type: DataTypes.TEXT, defaultValue: "" },
      senderEmail: { type: DataTypes.TEXT, allowNull: false },
      replyToEmail: { type: DataTypes.TEXT, defaultValue: null },
      dkimDomain: { type: DataTypes.TEXT, defaultValue: null },
      dkimSelector: { type: DataTypes.TEXT, defaultValue: null },
      dkimKeySealed: { type: DataTypes.BLOB, defaultValue: null },
      maxConnections: { type: DataTypes.INTEGER, defaultValue: 10 },
      maxPerSecond: { type: DataTypes.INTEGER, defaultValue: null },
      isDefault: { type: DataTypes.BOOLEAN, defaultValue: false },
      createdAt: DataTypes.DATE,
      updatedAt: DataTypes.DATE,
    },
    { sequelize, tableName: "smtp_configs" },
  ),
);
