import { type CreationOptional, DataTypes, type InferAttributes, type InferCreationAttributes, Model } from "sequelize";
import { newId } from "../services/lib/ids.ts";
import { defineModel } from "./database/define-model.ts";

/** A person who logs in; what she may do is in her memberships. */
export class User extends Model<InferAttributes<User>, InferCreationAttributes<User>> {
  declare id: CreationOptional<string>;
  declare email: string;
  declare passwordHash: string;
  declare firstName: CreationOptional<string>;
  declare lastName: CreationOptional<string>;
  declare createdAt: CreationOptional<Date>;
  declare updatedAt: CreationOptional<Date>;

  view() {
    return {
      id: this.id,
      email: this.email,
      first_name: this.firstName,
      last_name: this.lastName,
      created_at: this.createdAt.toISOString(),
    };
  }
}

defineModel((sequelize) =>
  User.init(
    {
      id: { type: DataTypes.UUID, primaryKey: true, defaultValue: newId },
      email: { type: DataTypes.TEXT, allowNull: false },
      passwordHash: { type: DataTypes.TEXT, allowNull: false },
      firstName: { type: DataTypes.TEXT, defaultValue: "" },
      lastName: { type: DataTypes.TEXT, defaultValue: "" },
      createdAt: DataTypes.DATE,
      updatedAt: DataTypes.DATE,
    },
    { sequelize, tableName: "users" },
  ),
);
