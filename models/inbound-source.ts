import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { company, id, nullable, required } from "./database/columns.ts";

export const PROVIDERS = ["ses", "sendgrid", "mailgun", "postmark", "sparkpost", "brevo"] as const;
export type ProviderName = (typeof PROVIDERS)[number];

/**
 * Endpoint to which a provider posts its reports. Token and secret are envelopes of services/lib/secrets.ts, sealed to
 * the id.
 */
export class InboundSource extends Model<InferAttributes<InboundSource>, InferCreationAttributes<InboundSource>> {
  declare id: CreationOptional<string>;
  declare companyId: string;
  declare provider: ProviderName;
  declare smtpConfigId: CreationOptional<string | null>;
  declare tokenHash: Buffer;
  declare tokenSealed: Buffer;
  declare secretSealed: CreationOptional<Buffer | null>;
  declare topic: CreationOptional<string | null>;
  declare createdAt: CreationOptional<Date>;
  declare updatedAt: CreationOptional<Date>;

  static register(sequelize: Sequelize): void {
    InboundSource.init(
      {
        id: id(),
        companyId: company(),
        provider: required(DataTypes.TEXT),
        smtpConfigId: nullable(DataTypes.UUID),
        tokenHash: required(DataTypes.BLOB),
        tokenSealed: required(DataTypes.BLOB),
        secretSealed: nullable(DataTypes.BLOB),
        topic: nullable(DataTypes.TEXT),
        createdAt: required(DataTypes.DATE),
        updatedAt: required(DataTypes.DATE),
      },
      { sequelize, tableName: "inbound_sources" },
    );
  }
}
