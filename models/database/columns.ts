/**
 * Column definitions of the models. Functions, because Sequelize writes into the object it is given. The name in the
 * table is the attribute's in snake case (`underscored`); test/integration/models/models.test.ts compares both with the
 * database.
 */
import { type DataType, DataTypes } from "sequelize";
import { newId } from "../../services/lib/ids.ts";

/** The primary key of a row that the application names: UUIDv7. */
export const id = () => ({ type: DataTypes.UUID, primaryKey: true, allowNull: false, defaultValue: newId });

export const primaryKey = (type: DataType = DataTypes.UUID) => ({ type, primaryKey: true, allowNull: false });

/**
 * The company of a tenant's row: part of the model's key even where the table's own key does without it, so that what
 * Sequelize writes for one instance (`save`, `destroy`, `reload`) names the company, too.
 */
export const company = () => primaryKey();

export const required = (type: DataType, defaultValue?: unknown) => ({
  type,
  allowNull: false,
  ...(defaultValue === undefined ? {} : { defaultValue }),
});

export const nullable = (type: DataType) => ({ type, allowNull: true });
