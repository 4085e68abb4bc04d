import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { company, nullable, primaryKey, required } from "./database/columns.ts";

/** A subscriber's new address that waits for the confirmation from its mailbox. SQL only (statements/change-address.ts). */
export class AddressChange extends Model<InferAttributes<AddressChange>, InferCreationAttributes<AddressChange>> {
  declare companyId: string;
  declare emailKey: string;
  declare email: string;
  declare subscriberId: string;
  /** Null: its link leads nowhere any more. */
  declare id: string | null;
  declare askedAt: CreationOptional<Date>;
  declare acceptLanguage: string;
  declare isUnsent: CreationOptional<boolean>;

  static register(sequelize: Sequelize): void {
    AddressChange.init(
      {
        companyId: { ...company(), primaryKey: true },
        emailKey: primaryKey(DataTypes.TEXT),
        email: required(DataTypes.TEXT),
        subscriberId: required(DataTypes.UUID),
        id: nullable(DataTypes.UUID),
        askedAt: required(DataTypes.DATE),
        acceptLanguage: required(DataTypes.TEXT),
        isUnsent: required(DataTypes.BOOLEAN, true),
      },
      { sequelize, tableName: "address_changes", timestamps: false },
    );
  }
}

/** An address that a subscriber had before. */
export class FormerAddress extends Model<InferAttributes<FormerAddress>, InferCreationAttributes<FormerAddress>> {
  declare companyId: string;
  declare subscriberId: string;
  declare emailKey: string;
  declare email: string;
  declare changedAt: CreationOptional<Date>;

  static register(sequelize: Sequelize): void {
    FormerAddress.init(
      {
        companyId: { ...company(), primaryKey: true },
        subscriberId: primaryKey(),
        emailKey: primaryKey(DataTypes.TEXT),
        email: required(DataTypes.TEXT),
        changedAt: required(DataTypes.DATE),
      },
      { sequelize, tableName: "former_addresses", timestamps: false },
    );
  }
}
