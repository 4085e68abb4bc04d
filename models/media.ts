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

export interface Crop {
  left: number;
  top: number;
  width: number;
  height: number;
}

interface CopyParameters {
  crop?: Crop;
  width?: number;
  format?: string;
}

/** The same text for the same parameters of a copy. */
export const copyKeyOf = ({ crop, width, format }: CopyParameters): string =>
  JSON.stringify([crop ? [crop.left, crop.top, crop.width, crop.height] : null, width ?? null, format ?? null]);

function cropIn(copyKey: string): Crop | null {
  const [crop] = JSON.parse(copyKey) as [[number, number, number, number] | null];
  if (!crop) return null;
  const [left, top, width, height] = crop;
  return { left, top, width, height };
}

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
  /** Empty: in no folder. */
  declare folder: CreationOptional<string>;
  /** Description for people who do not see the image. */
  declare alt: CreationOptional<string>;
  /** The file that this image was made from; kept when that file is deleted. */
  declare copyOf: CreationOptional<string | null>;
  /** How the copy was made, see `copyKeyOf`: one request makes one copy, however often it is repeated. */
  declare copyKey: CreationOptional<string | null>;

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
        folder: required(DataTypes.TEXT, ""),
        alt: required(DataTypes.TEXT, ""),
        copyOf: nullable(DataTypes.UUID),
        copyKey: nullable(DataTypes.TEXT),
      },
      { sequelize, tableName: "media", updatedAt: false },
    );
  }

  view() {
    return {
      id: this.id,
      filename: this.filename,
      folder: this.folder,
      alt: this.alt,
      copy_of: this.copyOf,
      crop: this.copyKey === null ? null : cropIn(this.copyKey),
      content_type: this.contentType,
      size: this.size,
      sha256: this.sha256.toString("hex"),
      url: `${config().BASE_URL}/api/emails/public/media/${this.id}/${encodeURIComponent(this.filename)}`,
      created_at: this.createdAt.toISOString(),
    };
  }
}

/** Columns for a statement with media m. */
export const MEDIA_COLUMNS =
  "m.id, m.filename, m.folder, m.alt, m.copy_of, m.copy_key, m.content_type, m.size, m.sha256, m.created_at";
