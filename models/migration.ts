import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { primaryKey, required } from "./database/columns.ts";

/** An applied file of models/migrations; database/migrate.ts writes it before there is a Sequelize. */
export class Migration extends Model<InferAttributes<Migration>, InferCreationAttributes<Migration>> {
  declare name: string;
  declare checksum: string;
  declare appliedAt: CreationOptional<Date>;

  static register(sequelize: Sequelize): void {
    Migration.init(
      {
        name: primaryKey(DataTypes.TEXT),
        checksum: required(DataTypes.TEXT),
        appliedAt: required(DataTypes.DATE),
      },
      { sequelize, tableName: "migrations", timestamps: false },
    );
  }
}

/** A step that is done of a migration in steps; database/run-steps.ts writes it. */
export class MigrationStep extends Model<InferAttributes<MigrationStep>, InferCreationAttributes<MigrationStep>> {
  declare name: string;
  declare step: number;

  static register(sequelize: Sequelize): void {
    MigrationStep.init(
      { name: primaryKey(DataTypes.TEXT), step: primaryKey(DataTypes.INTEGER) },
      { sequelize, tableName: "migration_steps", timestamps: false },
    );
  }
}
