import { DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from "sequelize";
import { company, primaryKey, required } from "./database/columns.ts";

/**
 * What a company's mail servers say again and again, with U+001F in place of what differs from mail to mail; rows of
 * recipients have the number and what differs. Only ever added to, by senders (smtp-sender/delivery/reply-patterns.ts).
 */
export class ReplyPattern extends Model<InferAttributes<ReplyPattern>, InferCreationAttributes<ReplyPattern>> {
  declare companyId: string;
  declare no: number;
  declare pattern: string;

  static register(sequelize: Sequelize): void {
    ReplyPattern.init(
      { companyId: company(), no: primaryKey(DataTypes.SMALLINT), pattern: required(DataTypes.TEXT) },
      { sequelize, tableName: "reply_patterns", timestamps: false },
    );
  }
}
