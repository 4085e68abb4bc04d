import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { id, nullable, required } from "./database/columns.ts";

/** A person who logs in; the companies she belongs to, and her role in each: membership.ts. */
export class User extends Model<InferAttributes<User>, InferCreationAttributes<User>> {
  declare id: CreationOptional<string>;
  declare email: string;
  declare readonly emailKey: CreationOptional<string | null>;
  declare passwordHash: string;
  /** Time at which the mailbox was verified; null: the registrant may be anybody. */
  declare emailVerifiedAt: CreationOptional<Date | null>;
  declare totpSecretSealed: CreationOptional<Buffer | null>;
  /** Time from which a login needs a code. */
  declare totpConfirmedAt: CreationOptional<Date | null>;
  declare totpLastStep: CreationOptional<number>;
  declare firstName: CreationOptional<string>;
  declare lastName: CreationOptional<string>;
  declare createdAt: CreationOptional<Date>;
  declare updatedAt: CreationOptional<Date>;

  static register(sequelize: Sequelize): void {
    User.init(
      {
        id: id(),
        email: required(DataTypes.TEXT),
        emailKey: nullable(DataTypes.TEXT),
        passwordHash: required(DataTypes.TEXT),
        emailVerifiedAt: nullable(DataTypes.DATE),
        totpSecretSealed: nullable(DataTypes.BLOB),
        totpConfirmedAt: nullable(DataTypes.DATE),
        totpLastStep: required(DataTypes.BIGINT, 0),
        firstName: required(DataTypes.TEXT, ""),
        lastName: required(DataTypes.TEXT, ""),
        createdAt: required(DataTypes.DATE),
        updatedAt: required(DataTypes.DATE),
      },
      { sequelize, tableName: "users" },
    );
  }

  view() {
    return {
      id: this.id,
      email: this.email,
      first_name: this.firstName,
      last_name: this.lastName,
      created_at: this.createdAt.toISOString(),
    };
  }
}
