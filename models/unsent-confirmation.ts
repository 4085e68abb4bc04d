import { DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from "sequelize";
import { company, primaryKey, required } from "./database/columns.ts";

/** A confirmation that is still to be mailed. SQL only (models/statements/ask-to-confirm.ts). */
export class UnsentConfirmation extends Model<
  InferAttributes<UnsentConfirmation>,
  InferCreationAttributes<UnsentConfirmation>
> {
  declare companyId: string;
  declare subscriberId: string;
  declare askedAt: Date;
  declare acceptLanguage: string;

  static register(sequelize: Sequelize): void {
    UnsentConfirmation.init(
      {
        companyId: { ...company(), primaryKey: true },
        subscriberId: primaryKey(),
        askedAt: required(DataTypes.DATE),
        acceptLanguage: required(DataTypes.TEXT),
      },
      { sequelize, tableName: "unsent_confirmations", timestamps: false },
    );
  }
}
