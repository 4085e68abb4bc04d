import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { company, id, required } from "./database/columns.ts";
import type { Rules } from "./segment-rules/segment-sql.ts";

/** Subscribers described by rules, evaluated at each use. */
export class Segment extends Model<InferAttributes<Segment>, InferCreationAttributes<Segment>> {
  declare id: CreationOptional<string>;
  declare companyId: string;
  declare name: string;
  declare description: CreationOptional<string>;
  declare rules: Rules;
  declare createdAt: CreationOptional<Date>;
  declare updatedAt: CreationOptional<Date>;

  static register(sequelize: Sequelize): void {
    Segment.init(
      {
        id: id(),
        companyId: company(),
        name: required(DataTypes.TEXT),
        description: required(DataTypes.TEXT, ""),
        rules: required(DataTypes.JSONB),
        createdAt: required(DataTypes.DATE),
        updatedAt: required(DataTypes.DATE),
      },
      { sequelize, tableName: "segments" },
    );
  }

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
