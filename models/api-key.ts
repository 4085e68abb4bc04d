import { type CreationOptional, DataTypes, type InferAttributes, type InferCreationAttributes, Model } from "sequelize";
import { newId } from "../services/lib/ids.ts";
import { defineModel } from "./database/define-model.ts";

/** A company's credential for programs. The key itself is never stored, only its SHA-256. */
export class ApiKey extends Model<InferAttributes<ApiKey>, InferCreationAttributes<ApiKey>> {
  declare id: CreationOptional<string>;
  declare companyId: string;
  declare name: string;
  declare prefix: string;
  declare keyHash: Buffer;
  declare expiresAt: CreationOptional<Date | null>;
  declare lastUsedAt: CreationOptional<Date | null>;
  declare createdAt: CreationOptional<Date>;

  view() {
    return {
      id: this.id,
      name: this.name,
      prefix: this.prefix,
      expires_at: this.expiresAt?.toISOString() ?? null,
      last_used_at: this.lastUsedAt?.toISOString() ?? null,
      created_at: this.createdAt.toISOString(),
    };
  }
}

defineModel((sequelize) =>
  ApiKey.init(
    {
      id: { type: DataTypes.UUID, primaryKey: true, defaultValue: newId },
      companyId: { type: DataTypes.UUID, primaryKey: true },
      name: { type: DataTypes.TEXT, allowNull: false },
      prefix: { type: DataTypes.TEXT, allowNull: false },
      keyHash: { type: DataTypes.BLOB, allowNull: false },
      expiresAt: DataTypes.DATE,
      lastUsedAt: DataTypes.DATE,
      createdAt: DataTypes.DATE,
    },
    { sequelize, tableName: "api_keys", updatedAt: false },
  ),
);
