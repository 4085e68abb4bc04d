import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { company, nullable, primaryKey, required } from "./database/columns.ts";

/** One key, one campaign: written in the transaction of the campaign it answers for, and kept for 24 hours. */
export class IdempotencyKey extends Model<InferAttributes<IdempotencyKey>, InferCreationAttributes<IdempotencyKey>> {
  declare companyId: string;
  declare key: string;
  declare requestHash: Buffer;
  /** The answer as JSON; `json` keeps the order of its fields. */
  declare response: CreationOptional<unknown>;
  declare createdAt: CreationOptional<Date>;

  static register(sequelize: Sequelize): void {
    IdempotencyKey.init(
      {
        companyId: company(),
        key: primaryKey(DataTypes.TEXT),
        requestHash: required(DataTypes.BLOB),
        response: nullable(DataTypes.JSON),
        createdAt: required(DataTypes.DATE),
      },
      { sequelize, tableName: "idempotency_keys", updatedAt: false },
    );
  }
}
