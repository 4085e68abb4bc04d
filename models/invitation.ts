import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import type { Role } from "../services/lib/rights.ts";
import { company, id, nullable, required } from "./database/columns.ts";

/** Invitation of an address to a company. Open until accepted, withdrawn or expired. */
export class Invitation extends Model<InferAttributes<Invitation>, InferCreationAttributes<Invitation>> {
  declare id: CreationOptional<string>;
  declare companyId: string;
  declare email: string;
  declare readonly emailKey: CreationOptional<string | null>;
  declare role: Role;
  declare invitedBy: string | null;
  declare provesAddress: boolean;
  declare expiresAt: Date;
  declare acceptedAt: CreationOptional<Date | null>;
  declare withdrawnAt: CreationOptional<Date | null>;
  declare createdAt: CreationOptional<Date>;

  static register(sequelize: Sequelize): void {
    Invitation.init(
      {
        id: id(),
        companyId: company(),
        email: required(DataTypes.TEXT),
        emailKey: nullable(DataTypes.TEXT),
        role: required(DataTypes.TEXT),
        invitedBy: nullable(DataTypes.UUID),
        provesAddress: required(DataTypes.BOOLEAN),
        expiresAt: required(DataTypes.DATE),
        acceptedAt: nullable(DataTypes.DATE),
        withdrawnAt: nullable(DataTypes.DATE),
        createdAt: required(DataTypes.DATE),
      },
      { sequelize, tableName: "invitations", updatedAt: false },
    );
  }
}
