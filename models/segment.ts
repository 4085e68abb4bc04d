import { type CreationOptional, DataTypes, type InferAttributes, type InferCreationAttributes, Model } from "sequelize";
import { newId } from "../services/lib/ids.ts";
import { defineModel } from "./database/define-model.ts";
import type { Rules } from "./segment-rules/segment-sql.ts";

/** Subscribers described by rules, found anew each time they are asked for. */
export class Segment extends Model<InferAttributes<Segment>, InferCreationAttributes<Segment>> {
  declare id: CreationOptional<string>;
  declare companyId: string;
  declare name: string;
  declare description: CreationOptional<string>;
  declare rules: Rules;
  declare createdAt: CreationOptional<Date>;
  declare updatedAt: CreationOptional<Date>;

  view() {
    return {
      id: this.id,
      name: this.name,
      description: this.description,
      rules: this.rules,
      created_at: this.createdAt.toISOString(),
    };
  }
}

defineModel((sequelize) =>
  Segment.init(
    {
      id: { type: DataTypes.UUID, primaryKey: true, defaultValue: newId },
      companyId: { type: DataTypes.UUID, primaryKey: true },
      name: { type: DataTypes.TEXT, allowNull: false },
      description: { type: DataTypes.TEXT, defaultValue: "" },
      rules: { type: DataTypes.JSONB, allowNull: false },
      createdAt: DataTypes.DATE,
      updatedAt: DataTypes.DATE,
    },
    { sequelize, tableName: "segments" },
  ),
);
