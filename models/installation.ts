import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { nullable, primaryKey } from "./database/columns.ts";

/** A part of sent_emails: the table of 2^20 campaign numbers, and the month whose campaigns have them. Null: made ahead. */
export class RecipientPart extends Model<InferAttributes<RecipientPart>, InferCreationAttributes<RecipientPart>> {
  declare no: number;
  declare month: CreationOptional<string | null>;

  static register(sequelize: Sequelize): void {
    RecipientPart.init(
      { no: primaryKey(DataTypes.INTEGER), month: nullable(DataTypes.DATEONLY) },
      { sequelize, tableName: "recipient_parts", timestamps: false },
    );
  }
}
