import { type CreationOptional, DataTypes, type InferAttributes, type InferCreationAttributes, Model } from "sequelize";
import { newId } from "../services/lib/ids.ts";
import { defineModel } from "./database/define-model.ts";

export type TemplateMode = "basic" | "visual";
export type TemplateType = "marketing" | "transactional";

/** A saved subject and body. Campaigns copy it at the request, so that it may change or go at any time. */
export class Template extends Model<InferAttributes<Template>, InferCreationAttributes<Template>> {
  declare id: CreationOptional<string>;
  declare companyId: string;
  declare name: string;
  declare subject: string;
  declare body: CreationOptional<string>;
  declare templateMode: CreationOptional<TemplateMode>;
  declare templateType: CreationOptional<TemplateType>;
  declare createdAt: CreationOptional<Date>;
  declare updatedAt: CreationOptional<Date>;

  view() {
    return {
      id: this.id,
      name: this.name,
      subject: this.subject,
      body: this.body,
      template_mode: this.templateMode,
      template_type: this.templateType,
      created_at: this.createdAt.toISOString(),
      updated_at: this.updatedAt.toISOString(),
    };
  }
}

defineModel((sequelize) =>
  Template.init(
    {
      id: { type: DataTypes.UUID, primaryKey: true, defaultValue: newId },
      companyId: { type: DataTypes.UUID, primaryKey: true },
      name: { type: DataTypes.TEXT, allowNull: false },
      subject: { type: DataTypes.TEXT, allowNull: false },
      body: { type: DataTypes.TEXT, defaultValue: "" },
      templateMode: { type: DataTypes.TEXT, defaultValue: "basic" },
      templateType: { type: DataTypes.TEXT, defaultValue: "marketing" },
      createdAt: DataTypes.DATE,
      updatedAt: DataTypes.DATE,
    },
    { sequelize, tableName: "templates" },
  ),
);
