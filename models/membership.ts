import { type CreationOptional, DataTypes, type InferAttributes, type InferCreationAttributes, Model } from "sequelize";
import type { Role } from "../services/lib/caller.ts";
import { defineModel } from "./database/define-model.ts";

/** A user's role in a company. */
export class Membership extends Model<InferAttributes<Membership>, InferCreationAttributes<Membership>> {
  declare companyId: string;
  declare userId: string;
  declare role: Role;
  declare createdAt: CreationOptional<Date>;
}

defineModel((sequelize) =>
  Membership.init(
    {
      companyId: { type: DataTypes.UUID, primaryKey: true },
      userId: { type: DataTypes.UUID, primaryKey: true },
      role: { type: DataTypes.TEXT, allowNull: false },
      createdAt: DataTypes.DATE,
    },
    { sequelize, tableName: "memberships", updatedAt: false },
  ),
);
