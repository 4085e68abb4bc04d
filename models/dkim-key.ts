import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { company, id, nullable, required } from "./database/columns.ts";

export const DKIM_ALGORITHMS = ["rsa", "ed25519"] as const;
export type DkimAlgorithm = (typeof DKIM_ALGORITHMS)[number];

/**
 * A further DKIM key of an SMTP configuration; the first is stored in the configuration's row. The private key is an
 * envelope of services/lib/secrets.ts, sealed to the id. Per algorithm at most one key is active and one waits.
 */
export class DkimKey extends Model<InferAttributes<DkimKey>, InferCreationAttributes<DkimKey>> {
  declare id: CreationOptional<string>;
  declare companyId: string;
  declare smtpConfigId: string;
  declare domain: string;
  declare selector: string;
  declare algorithm: DkimAlgorithm;
  declare keySealed: Buffer;
  /** Text of the record to publish, for a generated key. */
  declare record: CreationOptional<string | null>;
  /** False: it signs once its record is seen. */
  declare active: boolean;
  declare nextLookAt: CreationOptional<Date>;
  declare createdAt: CreationOptional<Date>;

  static register(sequelize: Sequelize): void {
    DkimKey.init(
      {
        id: id(),
        companyId: company(),
        smtpConfigId: required(DataTypes.UUID),
        domain: required(DataTypes.TEXT),
        selector: required(DataTypes.TEXT),
        algorithm: required(DataTypes.TEXT),
        keySealed: required(DataTypes.BLOB),
        record: nullable(DataTypes.TEXT),
        active: required(DataTypes.BOOLEAN),
        nextLookAt: required(DataTypes.DATE, sequelize.literal("now()")),
        createdAt: required(DataTypes.DATE),
      },
      { sequelize, tableName: "dkim_keys", updatedAt: false },
    );
  }
}
