import { type CreationOptional, DataTypes, type InferAttributes, type InferCreationAttributes, Model } from "sequelize";
import { newId } from "../services/lib/ids.ts";
import { defineModel } from "./database/define-model.ts";

/** A list of subscribers; who is on it: list_members. */
export class List extends Model<InferAttributes<List>, InferCreationAttributes<List>> {
  declare id: CreationOptional<string>;
  declare companyId: string;
  declare name: string;
  declare description: CreationOptional<string>;
  declare createdAt: CreationOptional<Date>;
  declare updatedAt: CreationOptional<Date>;

  view(subscriberCount: number) {
    return {
      id: this.id,
      name: this.name,
      description: this.description,
      subscriber_count: subscriberCount,
      created_at: this.createdAt.toISOString(),
    };
  }
}

defineModel((sequelize) =>
  List.init(
    {
      id: { type: DataTypes.UUID, primaryKey: true, defaultValue: newId },
      companyId: { type: DataTypes.UUID, primaryKey: true },
      name: { type: DataTypes.TEXT, allowNull: false },
      description: { type: DataTypes.TEXT, defaultValue: "" },
      createdAt: DataTypes.DATE,
      updatedAt: DataTypes.DATE,
    },
    { sequelize, tableName: "lists" },
  ),
);
