import { createHash } from "node:crypto";
import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { uuidOf } from "../services/lib/ids.ts";
import { company, nullable, primaryKey, required } from "./database/columns.ts";

/**
 * A mailbox that bounces arrive in: one at most of an SMTP configuration, whose id it has. The password is an envelope of
 * services/lib/secrets.ts, sealed to the id. Who reads it is settled by services/bounces/mailbox/bounce-mailboxes.ts.
 */
export class BounceMailbox extends Model<InferAttributes<BounceMailbox>, InferCreationAttributes<BounceMailbox>> {
  declare id: string;
  declare companyId: string;
  declare host: string;
  declare port: number;
  declare username: string;
  declare passwordSealed: Buffer;
  declare useTls: boolean;
  declare folder: string;
  declare processedFolder: string;
  declare origin: string;
  declare revision: CreationOptional<number>;
  declare reader: CreationOptional<string | null>;
  declare leaseUntil: CreationOptional<Date | null>;
  declare nextAttemptAt: CreationOptional<Date>;
  declare failures: CreationOptional<number>;
  declare lastError: CreationOptional<string | null>;
  declare lastErrorAt: CreationOptional<Date | null>;
  declare createdAt: CreationOptional<Date>;
  declare updatedAt: CreationOptional<Date>;

  static register(sequelize: Sequelize): void {
    BounceMailbox.init(
      {
        id: primaryKey(),
        companyId: company(),
        host: required(DataTypes.TEXT),
        port: required(DataTypes.INTEGER),
        username: required(DataTypes.TEXT),
        passwordSealed: required(DataTypes.BLOB),
        useTls: required(DataTypes.BOOLEAN),
        folder: required(DataTypes.TEXT),
        processedFolder: required(DataTypes.TEXT),
        origin: required(DataTypes.UUID),
        revision: required(DataTypes.INTEGER, 1),
        reader: nullable(DataTypes.TEXT),
        leaseUntil: nullable(DataTypes.DATE),
        nextAttemptAt: required(DataTypes.DATE, sequelize.literal("now()")),
        failures: required(DataTypes.INTEGER, 0),
        lastError: nullable(DataTypes.TEXT),
        lastErrorAt: nullable(DataTypes.DATE),
        createdAt: required(DataTypes.DATE),
        updatedAt: required(DataTypes.DATE),
      },
      { sequelize, tableName: "bounce_mailboxes" },
    );
  }

  /** Identifies a folder independently of the configuration: a re-created one finds what was already read. */
  static originOf(box: { companyId: string; host: string; username: string; folder: string }): string {
    const name = JSON.stringify([box.companyId, box.host.toLowerCase(), box.username, box.folder]);
    return uuidOf(createHash("sha256").update(name).digest().subarray(0, 16));
  }

  view() {
    return {
      host: this.host,
      port: this.port,
      username: this.username,
      use_tls: this.useTls,
      folder: this.folder,
      processed_folder: this.processedFolder,
      last_error: this.lastError,
      last_error_at: this.lastErrorAt?.toISOString() ?? null,
    };
  }
}
