import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { company, primaryKey, required } from "./database/columns.ts";

/** A list that a subscriber joins with the next confirmation. SQL only (models/statements/ask-to-confirm.ts). */
export class ListWish extends Model<InferAttributes<ListWish>, InferCreationAttributes<ListWish>> {
  declare companyId: string;
  declare subscriberId: string;
  declare listId: string;
  declare askedAt: CreationOptional<Date>;

  static register(sequelize: Sequelize): void {
    ListWish.init(
      {
        companyId: { ...company(), primaryKey: true },
        subscriberId: primaryKey(),
        listId: primaryKey(),
        askedAt: required(DataTypes.DATE),
      },
      { sequelize, tableName: "list_wishes", timestamps: false },
    );
  }
}
