import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { company, id, required } from "./database/columns.ts";

type TemplateMode = "basic" | "visual";
type TemplateType = "marketing" | "transactional";

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

  static register(sequelize: Sequelize): void {
    Template.init(
      {
        id: id(),
        companyId: company(),
        name: required(DataTypes.TEXT),
        subject: required(DataTypes.TEXT),
        body: required(DataTypes.TEXT, ""),
        templateMode: required(DataTypes.TEXT, "basic"),
        templateType: required(DataTypes.TEXT, "marketing"),
        createdAt: required(DataTypes.DATE),
        updatedAt: required(DataTypes.DATE),
      },
      { sequelize, tableName: "templates" },
    );
  }

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
