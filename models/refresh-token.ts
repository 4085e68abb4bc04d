import { type CreationOptional, DataTypes, type InferAttributes, type InferCreationAttributes, Model } from "sequelize";
import { defineModel } from "./models.ts";

/** One refresh token that was handed out, by its SHA-256. All that came from one login share a family. */
export class RefreshToken extends Model<InferAttributes<RefreshToken>, InferCreationAttributes<RefreshToken>> {
  declare tokenHash: Buffer;
  declare familyId: string;
  declare userId: string;
  declare expiresAt: Date;
  declare spentAt: CreationOptional<Date | null>;
  declare revokedAt: CreationOptional<Date | null>;
  declare createdAt: CreationOptional<Date>;
}

defineModel((sequelize) =>
  RefreshToken.init(
    {
      tokenHash: { type: DataTypes.BLOB, primaryKey: true },
      familyId: { type: DataTypes.UUID, allowNull: false },
      userId: { type: DataTypes.UUID, allowNull: false },
      expiresAt: { type: DataTypes.DATE, allowNull: false },
      spentAt: DataTypes.DATE,
      revokedAt: DataTypes.DATE,
      createdAt: DataTypes.DATE,
    },
    { sequelize, tableName: "refresh_tokens", updatedAt: false },
  ),
);
