import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { nullable, primaryKey } from "./database/columns.ts";

/** What concerns all of the installation: one row, made by the migration. */
export class Installation extends Model<InferAttributes<Installation>, InferCreationAttributes<Installation>> {
  declare id: string;
  declare mailKeySealed: CreationOptional<Buffer | null>;
  declare compactSince: CreationOptional<Date | null>;
  declare compactHitsSince: CreationOptional<Date | null>;
  /** Which database senders worked on last, and when (statements/restored-database.ts). */
  declare workedOn: CreationOptional<string | null>;
  declare workedOnTimeline: CreationOptional<string | null>;
  declare workedAt: CreationOptional<Date | null>;

  static register(sequelize: Sequelize): void {
    Installation.init(
      {
        id: { ...primaryKey(), defaultValue: "00000000-0000-0000-0000-000000000001" },
        mailKeySealed: nullable(DataTypes.BLOB),
        compactSince: nullable(DataTypes.DATE),
        compactHitsSince: nullable(DataTypes.DATE),
        workedOn: nullable(DataTypes.TEXT),
        workedOnTimeline: nullable(DataTypes.TEXT),
        workedAt: nullable(DataTypes.DATE),
      },
      { sequelize, tableName: "installation", timestamps: false },
    );
  }
}

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
