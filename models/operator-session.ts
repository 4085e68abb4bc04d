import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { id, nullable, required } from "./database/columns.ts";

/** An operator's session of the console; before it begins, the link that opens it once. Of no company. */
export class OperatorSession extends Model<InferAttributes<OperatorSession>, InferCreationAttributes<OperatorSession>> {
  declare id: CreationOptional<string>;
  declare linkHash: Buffer | null;
  declare linkUntil: Date;
  declare name: string;
  declare madeAt: CreationOptional<Date>;
  declare beganAt: CreationOptional<Date | null>;
  declare expiresAt: CreationOptional<Date | null>;
  declare endedAt: CreationOptional<Date | null>;
  declare lastUsedAt: CreationOptional<Date | null>;
  declare ip: CreationOptional<string | null>;
  declare userAgent: CreationOptional<string | null>;

  static register(sequelize: Sequelize): void {
    OperatorSession.init(
      {
        id: id(),
        linkHash: nullable(DataTypes.BLOB),
        linkUntil: required(DataTypes.DATE),
        name: required(DataTypes.TEXT),
        madeAt: required(DataTypes.DATE),
        beganAt: nullable(DataTypes.DATE),
        expiresAt: nullable(DataTypes.DATE),
        endedAt: nullable(DataTypes.DATE),
        lastUsedAt: nullable(DataTypes.DATE),
        ip: nullable(DataTypes.TEXT),
        userAgent: nullable(DataTypes.TEXT),
      },
      { sequelize, tableName: "operator_sessions", timestamps: false },
    );
  }
}
