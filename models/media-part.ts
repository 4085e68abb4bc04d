import { DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from "sequelize";
import { primaryKey, required } from "./database/columns.ts";

/** A file in parts, so that neither an upload nor a download holds the whole of it in memory. */
export class MediaPart extends Model<InferAttributes<MediaPart>, InferCreationAttributes<MediaPart>> {
  declare mediaId: string;
  declare no: number;
  declare data: Buffer;

  static register(sequelize: Sequelize): void {
    MediaPart.init(
      {
        mediaId: primaryKey(),
        no: primaryKey(DataTypes.INTEGER),
        data: required(DataTypes.BLOB),
      },
      { sequelize, tableName: "media_parts", timestamps: false },
    );
  }
}
