import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { id, nullable, required } from "./database/columns.ts";

/** An email of the service itself (an invitation, a reset), from when it is wanted until its server has it. */
export class SystemMail extends Model<InferAttributes<SystemMail>, InferCreationAttributes<SystemMail>> {
  declare id: CreationOptional<string>;
  declare kind: string;
  declare recipient: string;
  /** Data of the text; never a credential: links are signed when the email is rendered. */
  declare data: Record<string, string>;
  declare attempts: CreationOptional<number>;
  declare nextAttemptAt: CreationOptional<Date | null>;
  declare error: CreationOptional<string | null>;
  declare sentAt: CreationOptional<Date | null>;
  declare createdAt: CreationOptional<Date>;

  static register(sequelize: Sequelize): void {
    SystemMail.init(
      {
        id: id(),
        kind: required(DataTypes.TEXT),
        recipient: required(DataTypes.TEXT),
        data: required(DataTypes.JSONB),
        attempts: required(DataTypes.INTEGER, 0),
        nextAttemptAt: nullable(DataTypes.DATE),
        error: nullable(DataTypes.TEXT),
        sentAt: nullable(DataTypes.DATE),
        createdAt: required(DataTypes.DATE),
      },
      { sequelize, tableName: "system_mails", updatedAt: false },
    );
  }
}
