import { DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from "sequelize";
import { company, primaryKey, required } from "./database/columns.ts";

/**
 * Row counts that stay exact and cheap at any size, kept by triggers. A writer adds to the slot of its own connection, so
 * that two rarely wait for one row; a reader sums at most 32 slots (`count_of`).
 */
export class Counter extends Model<InferAttributes<Counter>, InferCreationAttributes<Counter>> {
  declare companyId: string;
  declare name: string;
  declare ref: string;
  declare slot: number;
  declare n: number;

  static register(sequelize: Sequelize): void {
    Counter.init(
      {
        companyId: company(),
        name: primaryKey(DataTypes.TEXT),
        ref: primaryKey(),
        slot: primaryKey(DataTypes.SMALLINT),
        n: required(DataTypes.BIGINT),
      },
      { sequelize, tableName: "counters", timestamps: false },
    );
  }
}
