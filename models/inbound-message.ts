import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { company, id, nullable, primaryKey, required } from "./database/columns.ts";

/** Results: bounces and complaints (also repeated ones), messages that are neither, and messages that match no mail. */
export const INBOUND_RESULTS = ["bounced", "complained", "ignored", "unmatched"] as const;
export type InboundResult = (typeof INBOUND_RESULTS)[number];

export const BOUNCE_TYPES = ["hard", "soft", "block"] as const;

/** An inbound message, one row per recipient it reports. Written by statements/record-returns.ts. */
export class InboundMessage extends Model<InferAttributes<InboundMessage>, InferCreationAttributes<InboundMessage>> {
  declare id: CreationOptional<string>;
  declare companyId: string;
  declare receivedAt: CreationOptional<Date>;
  declare via: string;
  declare smtpConfigId: CreationOptional<string | null>;
  declare sentEmailId: CreationOptional<string | null>;
  declare recipient: CreationOptional<string | null>;
  declare result: InboundResult;
  declare bounceType: CreationOptional<(typeof BOUNCE_TYPES)[number] | null>;
  declare reason: CreationOptional<string | null>;
  declare dialect: CreationOptional<string | null>;
  declare diagnostic: CreationOptional<string | null>;
  declare rawId: CreationOptional<string | null>;

  static register(sequelize: Sequelize): void {
    InboundMessage.init(
      {
        id: id(),
        companyId: company(),
        receivedAt: required(DataTypes.DATE),
        via: required(DataTypes.TEXT),
        smtpConfigId: nullable(DataTypes.UUID),
        sentEmailId: nullable(DataTypes.UUID),
        recipient: nullable(DataTypes.TEXT),
        result: required(DataTypes.TEXT),
        bounceType: nullable(DataTypes.TEXT),
        reason: nullable(DataTypes.TEXT),
        dialect: nullable(DataTypes.TEXT),
        diagnostic: nullable(DataTypes.TEXT),
        rawId: nullable(DataTypes.UUID),
      },
      { sequelize, tableName: "inbound_messages", timestamps: false },
    );
  }
}

/** A raw message. Kept 30 days; the rows derived from it stay. */
export class InboundRaw extends Model<InferAttributes<InboundRaw>, InferCreationAttributes<InboundRaw>> {
  declare id: string;
  declare companyId: string;
  declare raw: Buffer;

  static register(sequelize: Sequelize): void {
    InboundRaw.init(
      { id: primaryKey(), companyId: company(), raw: required(DataTypes.BLOB) },
      { sequelize, tableName: "inbound_raws", timestamps: false },
    );
  }
}
