import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { company, id, nullable, required } from "./database/columns.ts";

export const LIST_VISIBILITIES = ["private", "public"] as const;
type ListVisibility = (typeof LIST_VISIBILITIES)[number];

/** A list of subscribers; its members are rows of list_members. */
export class List extends Model<InferAttributes<List>, InferCreationAttributes<List>> {
  declare id: CreationOptional<string>;
  declare companyId: string;
  declare name: string;
  declare description: CreationOptional<string>;
  /** Public ones are shown to subscribers, by their public name where they have one. */
  declare visibility: CreationOptional<ListVisibility>;
  declare publicName: CreationOptional<string>;
  declare publicDescription: CreationOptional<string>;
  /** True if the archive of this list is public; only for public lists. */
  declare archive: CreationOptional<boolean>;
  /** Null: as the company says. */
  declare doubleOptIn: CreationOptional<boolean | null>;
  declare createdAt: CreationOptional<Date>;
  declare updatedAt: CreationOptional<Date>;

  static register(sequelize: Sequelize): void {
    List.init(
      {
        id: id(),
        companyId: company(),
        name: required(DataTypes.TEXT),
        description: required(DataTypes.TEXT, ""),
        visibility: required(DataTypes.TEXT, "private"),
        publicName: required(DataTypes.TEXT, ""),
        publicDescription: required(DataTypes.TEXT, ""),
        archive: required(DataTypes.BOOLEAN, false),
        doubleOptIn: nullable(DataTypes.BOOLEAN),
        createdAt: required(DataTypes.DATE),
        updatedAt: required(DataTypes.DATE),
      },
      { sequelize, tableName: "lists" },
    );
  }

  view(subscriberCount: number) {
    return {
      id: this.id,
      name: this.name,
      description: this.description,
      visibility: this.visibility,
      public_name: this.publicName,
      public_description: this.publicDescription,
      archive: this.archive,
      double_opt_in: this.doubleOptIn,
      subscriber_count: subscriberCount,
      created_at: this.createdAt.toISOString(),
    };
  }
}
