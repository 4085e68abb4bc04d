import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { company, id, nullable, primaryKey, required } from "./database/columns.ts";

/**
 * A person who was erased, as a keyed hash of the address; and, until that is done, how far the work has come
 * (statements/erase-person.ts). SQL only.
 */
export class ErasedAddress extends Model<InferAttributes<ErasedAddress>, InferCreationAttributes<ErasedAddress>> {
  declare id: CreationOptional<string>;
  declare companyId: string;
  declare addressHash: Buffer;
  declare erasedAt: CreationOptional<Date>;
  declare addressSealed: CreationOptional<Buffer | null>;
  declare place: CreationOptional<number>;
  declare cursor: CreationOptional<string | null>;
  declare pass: CreationOptional<number>;
  declare counts: CreationOptional<Record<string, number>>;
  declare dueAt: CreationOptional<Date | null>;

  static register(sequelize: Sequelize): void {
    ErasedAddress.init(
      {
        id: { ...id(), primaryKey: false },
        companyId: company(),
        addressHash: primaryKey(DataTypes.BLOB),
        erasedAt: required(DataTypes.DATE),
        addressSealed: nullable(DataTypes.BLOB),
        place: required(DataTypes.SMALLINT, 0),
        cursor: nullable(DataTypes.TEXT),
        pass: required(DataTypes.SMALLINT, 1),
        counts: required(DataTypes.JSONB, {}),
        dueAt: nullable(DataTypes.DATE),
      },
      { sequelize, tableName: "erased_addresses", timestamps: false },
    );
  }
}
