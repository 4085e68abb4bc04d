import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { company, primaryKey, required } from "./database/columns.ts";

/** A receiver of a send who is still to be saved as a subscriber. SQL only (models/statements/save-receivers.ts). */
export class UnsavedReceiver extends Model<InferAttributes<UnsavedReceiver>, InferCreationAttributes<UnsavedReceiver>> {
  declare companyId: string;
  declare campaignId: string;
  declare no: number;
  declare email: string;
  declare firstName: CreationOptional<string>;
  declare lastName: CreationOptional<string>;

  static register(sequelize: Sequelize): void {
    UnsavedReceiver.init(
      {
        companyId: { ...company(), primaryKey: true },
        campaignId: primaryKey(),
        no: primaryKey(DataTypes.INTEGER),
        email: required(DataTypes.TEXT),
        firstName: required(DataTypes.TEXT, ""),
        lastName: required(DataTypes.TEXT, ""),
      },
      { sequelize, tableName: "unsaved_receivers", timestamps: false },
    );
  }
}
