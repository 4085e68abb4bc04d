import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { company, nullable, primaryKey, required } from "./database/columns.ts";

/** A template as one save left it: written and read by statements/template-versions.ts. */
export class TemplateVersion extends Model<InferAttributes<TemplateVersion>, InferCreationAttributes<TemplateVersion>> {
  declare companyId: string;
  declare templateId: string;
  declare version: number;
  /** Columns of the template by their names in the table. */
  declare content: Record<string, unknown>;
  declare savedByUser: string | null;
  declare savedByKey: string | null;
  declare createdAt: CreationOptional<Date>;

  static register(sequelize: Sequelize): void {
    TemplateVersion.init(
      {
        companyId: company(),
        templateId: primaryKey(),
        version: primaryKey(DataTypes.INTEGER),
        content: required(DataTypes.JSONB),
        savedByUser: nullable(DataTypes.UUID),
        savedByKey: nullable(DataTypes.UUID),
        createdAt: required(DataTypes.DATE),
      },
      { sequelize, tableName: "template_versions", updatedAt: false },
    );
  }
}
