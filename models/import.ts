import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import type { Caller } from "../services/lib/caller.ts";
import { company, id, nullable, primaryKey, required } from "./database/columns.ts";

export const IMPORT_STATUSES = ["waiting", "running", "done", "failed"] as const;
export type ImportStatus = (typeof IMPORT_STATUSES)[number];

/** An import that goes on behind its answer, or one whose errors are kept. Written by statements/imports.ts. */
export class Import extends Model<InferAttributes<Import>, InferCreationAttributes<Import>> {
  declare id: CreationOptional<string>;
  declare companyId: string;
  declare status: CreationOptional<ImportStatus>;
  declare form: CreationOptional<Record<string, unknown> | null>;
  declare caller: CreationOptional<Caller | null>;
  declare bytes: CreationOptional<number>;
  declare bytesRead: CreationOptional<number>;
  declare report: CreationOptional<Record<string, unknown> | null>;
  declare error: CreationOptional<string | null>;
  declare attempts: CreationOptional<number>;
  declare nextAttemptAt: CreationOptional<Date | null>;
  declare held: CreationOptional<boolean>;
  declare startedAt: CreationOptional<Date | null>;
  declare createdAt: CreationOptional<Date>;

  static register(sequelize: Sequelize): void {
    Import.init(
      {
        id: id(),
        companyId: company(),
        status: required(DataTypes.TEXT, "running"),
        form: nullable(DataTypes.JSONB),
        caller: nullable(DataTypes.JSONB),
        bytes: required(DataTypes.BIGINT, 0),
        bytesRead: required(DataTypes.BIGINT, 0),
        report: nullable(DataTypes.JSONB),
        error: nullable(DataTypes.TEXT),
        attempts: required(DataTypes.INTEGER, 0),
        nextAttemptAt: nullable(DataTypes.DATE),
        held: required(DataTypes.BOOLEAN, false),
        startedAt: nullable(DataTypes.DATE),
        createdAt: required(DataTypes.DATE),
      },
      { sequelize, tableName: "imports", updatedAt: false },
    );
  }
}

/** A piece of the file of a background import. */
export class ImportPart extends Model<InferAttributes<ImportPart>, InferCreationAttributes<ImportPart>> {
  declare importId: string;
  declare no: number;
  declare companyId: string;
  declare data: Buffer;

  static register(sequelize: Sequelize): void {
    ImportPart.init(
      {
        importId: primaryKey(),
        no: primaryKey(DataTypes.INTEGER),
        companyId: company(),
        data: required(DataTypes.BLOB),
      },
      { sequelize, tableName: "import_parts", timestamps: false },
    );
  }
}

/** What is wrong with some rows, as lines of CSV. */
export class ImportError extends Model<InferAttributes<ImportError>, InferCreationAttributes<ImportError>> {
  declare id: CreationOptional<string>;
  declare companyId: string;
  declare importId: string;
  declare attempts: CreationOptional<number>;
  declare lines: string;

  static register(sequelize: Sequelize): void {
    ImportError.init(
      {
        id: id(),
        companyId: company(),
        importId: required(DataTypes.UUID),
        attempts: required(DataTypes.INTEGER, 0),
        lines: required(DataTypes.TEXT),
      },
      { sequelize, tableName: "import_errors", timestamps: false },
    );
  }
}
