import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { company, id, required } from "./database/columns.ts";

/** Blocks that designs share: they refer to them by id. */
export class SavedBlock extends Model<InferAttributes<SavedBlock>, InferCreationAttributes<SavedBlock>> {
  declare id: CreationOptional<string>;
  declare companyId: string;
  declare name: string;
  declare blocks: Record<string, unknown>[];
  declare createdAt: CreationOptional<Date>;
  declare updatedAt: CreationOptional<Date>;

  static register(sequelize: Sequelize): void {
    SavedBlock.init(
      {
        id: id(),
        companyId: company(),
        name: required(DataTypes.TEXT),
        blocks: required(DataTypes.JSONB),
        createdAt: required(DataTypes.DATE),
        updatedAt: required(DataTypes.DATE),
      },
      { sequelize, tableName: "saved_blocks" },
    );
  }

  /** `blocks` is absent where it was not read: in lists. */
  view() {
    return {
      id: this.id,
      name: this.name,
      ...(this.blocks === undefined ? {} : { blocks: this.blocks }),
      created_at: this.createdAt.toISOString(),
      updated_at: this.updatedAt.toISOString(),
    };
  }
}
