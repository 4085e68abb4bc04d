import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { nullable, primaryKey } from "./database/columns.ts";

/** Replaces a code of the second factor once; only its SHA-256 is stored. */
export class RecoveryCode extends Model<InferAttributes<RecoveryCode>, InferCreationAttributes<RecoveryCode>> {
  declare userId: string;
  declare codeHash: Buffer;
  declare usedAt: CreationOptional<Date | null>;

  static register(sequelize: Sequelize): void {
    RecoveryCode.init(
      { userId: primaryKey(), codeHash: primaryKey(DataTypes.BLOB), usedAt: nullable(DataTypes.DATE) },
      { sequelize, tableName: "recovery_codes", timestamps: false },
    );
  }
}
