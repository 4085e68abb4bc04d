import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import type { Caller } from "../services/lib/caller.ts";
import { company, id, nullable, required } from "./database/columns.ts";

export const IMPORT_STATUSES = ["waiting", "running", "done", "failed"] as const;
export type ImportStatus = (typeof IMPORT_STATUSES)[number];

/** A background import, or one whose errors are kept. Written by statements/imports.ts. */
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
