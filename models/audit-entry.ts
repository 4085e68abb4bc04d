import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { company, id, nullable, required } from "./database/columns.ts";

/** One entry of a company's log. Never changed: the database refuses. */
export class AuditEntry extends Model<InferAttributes<AuditEntry>, InferCreationAttributes<AuditEntry>> {
  declare id: CreationOptional<string>;
  declare companyId: string;
  declare actorType: "user" | "api_key" | "operator" | "system";
  declare actorId: string | null;
  declare actorName: string;
  declare action: string;
  declare target: string | null;
  declare ip: string | null;
  declare detail: Record<string, unknown>;
  declare at: CreationOptional<Date>;

  static register(sequelize: Sequelize): void {
    AuditEntry.init(
      {
        id: id(),
        companyId: company(),
        actorType: required(DataTypes.TEXT),
        actorId: nullable(DataTypes.UUID),
        actorName: required(DataTypes.TEXT),
        action: required(DataTypes.TEXT),
        target: nullable(DataTypes.TEXT),
        ip: nullable(DataTypes.TEXT),
        detail: required(DataTypes.JSONB, {}),
        at: required(DataTypes.DATE),
      },
      { sequelize, tableName: "audit_log", timestamps: false },
    );
  }
}
