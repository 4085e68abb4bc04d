import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { company, id, required } from "./database/columns.ts";

/** Which send its body is the request of. */
export const DRAFT_KINDS = ["to-list", "to-receivers", "custom"] as const;
export type DraftKind = (typeof DRAFT_KINDS)[number];

/** A send that is not asked for yet. */
export class Draft extends Model<InferAttributes<Draft>, InferCreationAttributes<Draft>> {
  declare id: CreationOptional<string>;
  declare companyId: string;
  declare name: string;
  declare kind: DraftKind;
  /** Unchecked client input, validated when it is sent. */
  declare body: CreationOptional<Record<string, unknown>>;
  /** Size of the body as JSON. */
  declare bytes: CreationOptional<number>;
  declare createdAt: CreationOptional<Date>;
  declare updatedAt: CreationOptional<Date>;

  static register(sequelize: Sequelize): void {
    Draft.init(
      {
        id: id(),
        companyId: company(),
        name: required(DataTypes.TEXT),
        kind: required(DataTypes.TEXT),
        body: required(DataTypes.JSONB, {}),
        bytes: required(DataTypes.INTEGER, 2),
        createdAt: required(DataTypes.DATE),
        updatedAt: required(DataTypes.DATE),
      },
      { sequelize, tableName: "drafts" },
    );
  }

  view() {
    const { id, name, kind, body } = this;
    return {
      id,
      name,
      kind,
      body,
      created_at: this.createdAt.toISOString(),
      updated_at: this.updatedAt.toISOString(),
    };
  }
}
