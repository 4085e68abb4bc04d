import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { nullable, primaryKey, required } from "./database/columns.ts";

/** Bits of `flags`; the higher bits contain the variant's index plus one, if the recipient has a variant. */
export const HIT_FLAG = { machine: 1, first: 2, firstOfLink: 4 } as const;
export const HIT_VARIANT_SHIFT = 3;

/**
 * An open or click, one event of the event list; stored in monthly partitions and written by SQL many at a time. Hits
 * whose link includes its URL, or whose IP address has a zone, are stored in email_events like all other events. Has at
 * most eight columns: a ninth would add eight bytes to the header of each row with a null. Omitted are
 *
 * | column | because |
 * |---|---|
 * | created_at | the id is a UUIDv7 of that very millisecond (`hit_at(id)`) |
 * | company_id, campaign_id | their numbers are here |
 * | sent_email_id, recipient | the recipient's row has them, or its id is computed; when that row goes, its hits become rows of email_events first (statements/move-hits.ts) |
 * | type | link 0 is the pixel, and what is above is the number of the link that was clicked |
 * | metadata | the campaign has the addresses of its links |
 *
 * Indexes for the filters of the event list; partitions outside the period are not read:
 *
 * | filter       | in hits                                                                   | in email_events                                                |
 * |--------------|---------------------------------------------------------------------------|----------------------------------------------------------------|
 * | none         | (company_no, hit_stretch(id)), newest stretch first                       | the key (company_id, id)                                       |
 * | since, until | the same, within the stretches                                            | the same                                                       |
 * | type         | the same; none but opened and clicked are here                            | the same; bounced, unsubscribed and complained by partial ones |
 * | campaign     | (campaign_no, hit_stretch(id))                                            | (campaign_id, id)                                              |
 * | recipient    | the recipient's emails (sent-email.ts), then (hit_mail(campaign_no, seq)) | (company_id, lower(recipient), id)                             |
 *
 * A stretch is 262,144 ms long (what the first 30 bits of an id count), and rows of one stretch share an entry of the
 * index.
 */
export class Hit extends Model<InferAttributes<Hit>, InferCreationAttributes<Hit>> {
  declare id: string;
  declare companyNo: number;
  declare campaignNo: number;
  declare seq: number;
  declare link: number;
  declare flags: number;
  declare ip: CreationOptional<string | null>;
  declare agent: string;

  static register(sequelize: Sequelize): void {
    Hit.init(
      {
        // Required by Sequelize only; not indexed.
        id: primaryKey(),
        companyNo: required(DataTypes.INTEGER),
        campaignNo: required(DataTypes.INTEGER),
        seq: required(DataTypes.INTEGER),
        link: required(DataTypes.SMALLINT),
        flags: required(DataTypes.SMALLINT),
        ip: nullable(DataTypes.INET),
        agent: required(DataTypes.TEXT),
      },
      { sequelize, tableName: "hits", timestamps: false },
    );
  }
}

/** A monthly partition of hits. Detached: no longer read, and dropped once its hits are uncounted. */
export class HitPart extends Model<InferAttributes<HitPart>, InferCreationAttributes<HitPart>> {
  declare month: string;
  declare detachedAt: CreationOptional<Date | null>;
  /** Company number up to which uncounting is done. */
  declare uncountedTo: CreationOptional<number>;

  static register(sequelize: Sequelize): void {
    HitPart.init(
      {
        month: primaryKey(DataTypes.DATEONLY),
        detachedAt: nullable(DataTypes.DATE),
        uncountedTo: required(DataTypes.INTEGER, 0),
      },
      { sequelize, tableName: "hit_parts", timestamps: false },
    );
  }
}
