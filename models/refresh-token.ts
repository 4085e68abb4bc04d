import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { nullable, primaryKey, required } from "./database/columns.ts";

/**
 * A refresh token that was handed out and has not expired; only its SHA-256 is stored. All tokens of one login form a
 * family; using a spent token again revokes the family.
 */
export class RefreshToken extends Model<InferAttributes<RefreshToken>, InferCreationAttributes<RefreshToken>> {
  declare tokenHash: Buffer;
  declare familyId: string;
  declare userId: string;
  declare expiresAt: Date;
  declare spentAt: CreationOptional<Date | null>;
  declare revokedAt: CreationOptional<Date | null>;
  /** When the login was, and where from. */
  declare beganAt: CreationOptional<Date>;
  declare ip: CreationOptional<string | null>;
  declare userAgent: CreationOptional<string | null>;
  declare createdAt: CreationOptional<Date>;

  static register(sequelize: Sequelize): void {
    RefreshToken.init(
      {
        tokenHash: primaryKey(DataTypes.BLOB),
        familyId: required(DataTypes.UUID),
        userId: required(DataTypes.UUID),
        expiresAt: required(DataTypes.DATE),
        spentAt: nullable(DataTypes.DATE),
        revokedAt: nullable(DataTypes.DATE),
        beganAt: required(DataTypes.DATE),
        ip: nullable(DataTypes.TEXT),
        userAgent: nullable(DataTypes.TEXT),
        createdAt: required(DataTypes.DATE),
      },
      { sequelize, tableName: "refresh_tokens", updatedAt: false },
    );
  }
}
