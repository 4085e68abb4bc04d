import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { id, nullable, required } from "./database/columns.ts";

/** A link that was mailed to a user: it verifies the address or resets the password, once and for a while. */
export class AccountToken extends Model<InferAttributes<AccountToken>, InferCreationAttributes<AccountToken>> {
  declare id: CreationOptional<string>;
  declare kind: "verify" | "reset";
  declare userId: string;
  declare expiresAt: Date;
  declare spentAt: CreationOptional<Date | null>;
  declare createdAt: CreationOptional<Date>;

  static register(sequelize: Sequelize): void {
    AccountToken.init(
      {
        id: id(),
        kind: required(DataTypes.TEXT),
        userId: required(DataTypes.UUID),
        expiresAt: required(DataTypes.DATE),
        spentAt: nullable(DataTypes.DATE),
        createdAt: required(DataTypes.DATE),
      },
      { sequelize, tableName: "account_tokens", updatedAt: false },
    );
  }
}
