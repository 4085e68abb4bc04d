import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { company, id, nullable, primaryKey, required } from "./database/columns.ts";

export const PROVIDERS = ["ses", "sendgrid", "mailgun", "postmark", "sparkpost", "brevo"] as const;
export type ProviderName = (typeof PROVIDERS)[number];

/** Where a provider posts its reports to. Token and secret are envelopes of services/lib/secrets.ts, sealed to the id. */
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

/** A provider's request that waits to be worked off. Written and claimed by statements/inbound-reports.ts. */
export class InboundReport extends Model<InferAttributes<InboundReport>, InferCreationAttributes<InboundReport>> {
  declare id: CreationOptional<string>;
  declare companyId: string;
  declare sourceId: string;
  declare body: string;
  declare attempts: CreationOptional<number>;
  declare nextAttemptAt: Date;
  declare createdAt: CreationOptional<Date>;

  static register(sequelize: Sequelize): void {
    InboundReport.init(
      {
        id: id(),
        companyId: company(),
        sourceId: required(DataTypes.UUID),
        body: required(DataTypes.TEXT),
        attempts: required(DataTypes.INTEGER, 0),
        nextAttemptAt: required(DataTypes.DATE),
        createdAt: required(DataTypes.DATE),
      },
      { sequelize, tableName: "inbound_reports", updatedAt: false },
    );
  }
}

/** What was taken in of a source or a mailbox, so that it is not taken in again. */
export class InboundSeen extends Model<InferAttributes<InboundSeen>, InferCreationAttributes<InboundSeen>> {
  declare companyId: string;
  declare origin: string;
  declare key: string;
  declare seenAt: CreationOptional<Date>;

  static register(sequelize: Sequelize): void {
    InboundSeen.init(
      {
        companyId: company(),
        origin: primaryKey(),
        key: primaryKey(DataTypes.TEXT),
        seenAt: required(DataTypes.DATE),
      },
      { sequelize, tableName: "inbound_seen", timestamps: false },
    );
  }
}
