import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { company, nullable, primaryKey, required } from "./database/columns.ts";

/**
 * send_chunks.state. Ready: any sender may take it. Leased: `owner` works on it until `lease_until`. Done: only a
 * resume opens it again. Waiting: becomes ready at `due_at`, the hour of its recipients
 * (services/campaigns/expansion/release-due-chunks.ts), or, without one, when the winner of its campaign's variants is
 * known (statements/decide-winner.ts).
 */
export const SEND_CHUNK_STATE = { ready: 0, leased: 1, done: 2, waiting: 3 } as const;

/**
 * A run of recipients of one campaign (`lo` to `hi`), leased as a whole by one sender, which is several times faster
 * than claiming rows one by one. Updated often, so only by SQL.
 *
 * Recipients up to `markedTo` may have been handed to SMTP: those still queued when the lease expires are in doubt.
 * `fence` grows with each lease; a sender with an older one can write nothing.
 */
export class SendChunk extends Model<InferAttributes<SendChunk>, InferCreationAttributes<SendChunk>> {
  declare campaignId: string;
  declare companyId: string;
  declare no: number;
  declare smtpConfigId: string;
  declare isTransactional: boolean;
  declare lo: number;
  declare hi: number;
  declare markedTo: number;
  declare state: CreationOptional<number>;
  declare owner: CreationOptional<string | null>;
  declare fence: CreationOptional<number>;
  declare leaseUntil: CreationOptional<Date | null>;
  /** When it may be claimed; null: at once. */
  declare dueAt: CreationOptional<Date | null>;

  static register(sequelize: Sequelize): void {
    SendChunk.init(
      {
        campaignId: primaryKey(),
        companyId: company(),
        no: primaryKey(DataTypes.INTEGER),
        smtpConfigId: required(DataTypes.UUID),
        isTransactional: required(DataTypes.BOOLEAN),
        lo: required(DataTypes.INTEGER),
        hi: required(DataTypes.INTEGER),
        markedTo: required(DataTypes.INTEGER),
        state: required(DataTypes.SMALLINT, SEND_CHUNK_STATE.ready),
        owner: nullable(DataTypes.TEXT),
        fence: required(DataTypes.INTEGER, 0),
        leaseUntil: nullable(DataTypes.DATE),
        dueAt: nullable(DataTypes.DATE),
      },
      { sequelize, tableName: "send_chunks", timestamps: false },
    );
  }
}
