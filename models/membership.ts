import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type NonAttribute,
  type Sequelize,
} from "sequelize";
import type { Role } from "../services/lib/rights.ts";
import type { Company } from "./company.ts";
import { company, primaryKey, required } from "./database/columns.ts";
import type { User } from "./user.ts";

/** A user's role in a company. */
export class Membership extends Model<InferAttributes<Membership>, InferCreationAttributes<Membership>> {
  declare companyId: string;
  declare userId: string;
  declare role: Role;
  declare createdAt: CreationOptional<Date>;

  /** Present with `include: "user"`. */
  declare user?: NonAttribute<User>;
  /** Present with `include: "company"`. */
  declare company?: NonAttribute<Company>;

  static register(sequelize: Sequelize): void {
    Membership.init(
      {
        companyId: company(),
        userId: primaryKey(),
        role: required(DataTypes.TEXT),
        createdAt: required(DataTypes.DATE),
      },
      { sequelize, tableName: "memberships", updatedAt: false },
    );
  }

  view(user: User) {
    return {
      id: user.id,
      user_id: user.id,
      email: user.email,
      first_name: user.firstName,
      last_name: user.lastName,
      role: this.role,
      status: "active" as const,
      joined_at: this.createdAt.toISOString(),
      expires_at: null,
    };
  }
}
