import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import type { Attributes } from "../services/lib/attributes.ts";
import { company, id, nullable, required } from "./database/columns.ts";

/** Only active subscribers get mail. */
export const SUBSCRIBER_STATUSES = ["active", "unconfirmed", "unsubscribed", "bounced", "complained"] as const;
export type SubscriberStatus = (typeof SUBSCRIBER_STATUSES)[number];

/** Columns that a search reads, over the alias `s`; subscribers_search is the index on it. */
export const SEARCHED_TEXT = "s.email || ' ' || s.first_name || ' ' || s.last_name";

/**
 * A person in a company's address book. Imports, bulk actions and the look-up by id are SQL: the look-up costs 24 µs of
 * CPU so, and 70 by a model. Its view, over rows of SQL, is in services/subscribers/subscriber.ts.
 */
export class Subscriber extends Model<InferAttributes<Subscriber>, InferCreationAttributes<Subscriber>> {
  declare id: CreationOptional<string>;
  declare companyId: string;
  declare email: string;
  declare readonly emailKey: CreationOptional<string | null>;
  declare firstName: CreationOptional<string>;
  declare lastName: CreationOptional<string>;
  declare status: CreationOptional<SubscriberStatus>;
  declare attributes: CreationOptional<Attributes>;
  /** The import that created the person. */
  declare importId: CreationOptional<string | null>;
  /** Names and attributes of the public form that count once the person has confirmed. */
  declare formValues: CreationOptional<Record<string, unknown> | null>;
  /** Soft bounces in a row at the last one; an email that was delivered since makes it 0 (soft_bounces_in_a_row). */
  declare softBounces: CreationOptional<number>;
  declare softBouncedAt: CreationOptional<Date | null>;
  declare confirmMailedAt: CreationOptional<Date | null>;
  declare createdAt: CreationOptional<Date>;
  declare updatedAt: CreationOptional<Date>;

  static register(sequelize: Sequelize): void {
    Subscriber.init(
      {
        id: id(),
        companyId: company(),
        email: required(DataTypes.TEXT),
        emailKey: nullable(DataTypes.TEXT),
        firstName: required(DataTypes.TEXT, ""),
        lastName: required(DataTypes.TEXT, ""),
        status: required(DataTypes.TEXT, "active"),
        attributes: required(DataTypes.JSONB, {}),
        importId: nullable(DataTypes.UUID),
        formValues: nullable(DataTypes.JSONB),
        softBounces: required(DataTypes.INTEGER, 0),
        softBouncedAt: nullable(DataTypes.DATE),
        confirmMailedAt: nullable(DataTypes.DATE),
        createdAt: required(DataTypes.DATE),
        updatedAt: required(DataTypes.DATE),
      },
      { sequelize, tableName: "subscribers" },
    );
  }
}
