import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { id, nullable, required } from "./database/columns.ts";

/** A link that is good once and for a while: mailed, to verify the address or reset the password, or made to sign in. */
export class AccountToken extends Model<InferAttributes<AccountToken>, InferCreationAttributes<AccountToken>> {
  declare id: CreationOptional<string>;
  declare kind: "verify" | "reset" | "sign_in";
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
