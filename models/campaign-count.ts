import { DataTypes, type InferAttributes, type InferCreationAttributes, Model, type Sequelize } from "sequelize";
import { company, primaryKey, required } from "./database/columns.ts";

/**
 * What analytics shows, kept by difference by a trigger on email_events, so that a read costs the same at ten events and
 * at ten million. The slots let writers of one campaign pass each other; a value is the sum over the slots.
 */
export class CampaignCount extends Model<InferAttributes<CampaignCount>, InferCreationAttributes<CampaignCount>> {
  declare companyId: string;
  declare campaignId: string;
  declare metric: string;
  declare bucket: number;
  declare slot: number;
  declare n: number;

  static register(sequelize: Sequelize): void {
    CampaignCount.init(
      {
        companyId: company(),
        campaignId: primaryKey(),
        metric: primaryKey(DataTypes.TEXT),
        bucket: primaryKey(DataTypes.INTEGER),
        slot: primaryKey(DataTypes.SMALLINT),
        n: required(DataTypes.BIGINT),
      },
      { sequelize, tableName: "campaign_counts", timestamps: false },
    );
  }
}
