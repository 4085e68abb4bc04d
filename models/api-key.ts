import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import type { Scope } from "../services/lib/rights.ts";
import { company, id, nullable, required } from "./database/columns.ts";

/** A company's credential for programs. The key itself is never stored, only its SHA-256. */
export class ApiKey extends Model<InferAttributes<ApiKey>, InferCreationAttributes<ApiKey>> {
  declare id: CreationOptional<string>;
  declare companyId: string;
  declare name: string;
  declare prefix: string;
  declare keyHash: Buffer;
  declare scopes: CreationOptional<Scope[]>;
  declare allowedIps: CreationOptional<string[]>;
  declare createdBy: CreationOptional<string | null>;
  declare expiresAt: CreationOptional<Date | null>;
  declare lastUsedAt: CreationOptional<Date | null>;
  declare createdAt: CreationOptional<Date>;

  static register(sequelize: Sequelize): void {
    ApiKey.init(
      {
        id: id(),
        companyId: company(),
        name: required(DataTypes.TEXT),
        prefix: required(DataTypes.TEXT),
        keyHash: required(DataTypes.BLOB),
        scopes: required(DataTypes.ARRAY(DataTypes.TEXT), ["full"]),
        allowedIps: required(DataTypes.ARRAY(DataTypes.TEXT), []),
        createdBy: nullable(DataTypes.UUID),
        expiresAt: nullable(DataTypes.DATE),
        lastUsedAt: nullable(DataTypes.DATE),
        createdAt: required(DataTypes.DATE),
      },
      { sequelize, tableName: "api_keys", updatedAt: false },
    );
  }
}
