import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { company, id, nullable, required } from "./database/columns.ts";

/** Transactional mail passes "unsubscribed", and no other. */
export const SUPPRESSION_KINDS = ["manual", "unsubscribed", "bounced", "complained"] as const;
export type SuppressionKind = (typeof SUPPRESSION_KINDS)[number];

/** Why a recipient got no mail, by the kind of the suppression or the subscriber's status. */
export const SUPPRESSION_SENTENCES: Readonly<Record<string, string>> = {
  manual: "The address or its domain is suppressed.",
  unsubscribed: "The recipient has unsubscribed.",
  bounced: "Mail to this address bounced before.",
  complained: "The recipient has complained about mail.",
  erased: "The recipient was erased.",
  unconfirmed: "The subscriber has not confirmed the subscription.",
};

/**
 * An address or a domain that a company does not write to: exactly one of `email` and `domain` is set. The domain is
 * stored as it goes over the wire (punycode), `domainUnicode` is the same in letters where they differ.
 */
export class Suppression extends Model<InferAttributes<Suppression>, InferCreationAttributes<Suppression>> {
  declare id: CreationOptional<string>;
  declare companyId: string;
  declare email: CreationOptional<string | null>;
  declare readonly emailKey: CreationOptional<string | null>;
  declare domain: CreationOptional<string | null>;
  declare domainUnicode: CreationOptional<string | null>;
  declare kind: CreationOptional<SuppressionKind>;
  declare reason: CreationOptional<string>;
  declare createdAt: CreationOptional<Date>;

  static register(sequelize: Sequelize): void {
    Suppression.init(
      {
        id: id(),
        companyId: company(),
        email: nullable(DataTypes.TEXT),
        emailKey: nullable(DataTypes.TEXT),
        domain: nullable(DataTypes.TEXT),
        domainUnicode: nullable(DataTypes.TEXT),
        kind: required(DataTypes.TEXT, "manual"),
        reason: required(DataTypes.TEXT, ""),
        createdAt: required(DataTypes.DATE),
      },
      { sequelize, tableName: "suppressions", updatedAt: false },
    );
  }

  view() {
    return {
      id: this.id,
      email: this.email,
      domain: this.domain,
      kind: this.kind,
      reason: this.reason,
      created_at: this.createdAt.toISOString(),
    };
  }
}
