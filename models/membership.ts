import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import type { Role } from "../services/lib/caller.ts";
import { company, primaryKey, required } from "./database/columns.ts";

/** A user's role in a company. */
export class Membership extends Model<InferAttributes<Membership>, InferCreationAttributes<Membership>> {
  declare companyId: string;
  declare userId: string;
  declare role: Role;
  declare createdAt: CreationOptional<Date>;

  static register(sequelize: Sequelize): void {
    Membership.init(
      {
        companyId: company(),
        userId: primaryKey(),
        role: required(DataTypes.TEXT),
        createdAt: required(DataTypes.DATE),
      },
      { sequelize, tableName: "memberships", updatedAt: false },
    );
  }
}
