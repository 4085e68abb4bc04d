import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { config } from "../services/lib/config.ts";
import { company, id, nullable, required } from "./database/columns.ts";

/**
 * An uploaded file; its bytes are rows of media_parts. `deletedAt` is set instead of deleting the row while a campaign
 * still attaches the file.
 */
export class Media extends Model<InferAttributes<Media>, InferCreationAttributes<Media>> {
  declare id: CreationOptional<string>;
  declare companyId: string;
  declare filename: string;
  declare contentType: string;
  declare size: number;
  declare sha256: Buffer;
  declare createdAt: CreationOptional<Date>;
  declare deletedAt: CreationOptional<Date | null>;

  static register(sequelize: Sequelize): void {
    Media.init(
      {
        id: id(),
        companyId: company(),
        filename: required(DataTypes.TEXT),
        contentType: required(DataTypes.TEXT),
        size: required(DataTypes.BIGINT),
        sha256: required(DataTypes.BLOB),
        createdAt: required(DataTypes.DATE),
        deletedAt: nullable(DataTypes.DATE),
      },
      { sequelize, tableName: "media", updatedAt: false },
    );
  }

  view() {
    return {
      id: this.id,
      filename: this.filename,
      content_type: this.contentType,
      size: this.size,
      sha256: this.sha256.toString("hex"),
      url: `${config().BASE_URL}/api/emails/public/media/${this.id}/${encodeURIComponent(this.filename)}`,
      created_at: this.createdAt.toISOString(),
    };
  }
}

/** Columns for a statement with media m. */
export const MEDIA_COLUMNS = "m.id, m.filename, m.content_type, m.size, m.sha256, m.created_at";
