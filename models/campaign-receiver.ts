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
 * A recipient given with the request itself: stored in the request's transaction, and here until expansion turns it into
 * a row of sent_emails. Written and read in slices by SQL.
 */
export class CampaignReceiver extends Model<
  InferAttributes<CampaignReceiver>,
  InferCreationAttributes<CampaignReceiver>
> {
  declare campaignId: string;
  declare companyId: string;
  declare no: number;
  declare email: string;
  declare cc: CreationOptional<string[] | null>;
  declare bcc: CreationOptional<string[] | null>;
  declare variables: CreationOptional<Record<string, unknown>>;

  static register(sequelize: Sequelize): void {
    CampaignReceiver.init(
      {
        campaignId: primaryKey(),
        companyId: company(),
        no: primaryKey(DataTypes.INTEGER),
        email: required(DataTypes.TEXT),
        cc: nullable(DataTypes.ARRAY(DataTypes.TEXT)),
        bcc: nullable(DataTypes.ARRAY(DataTypes.TEXT)),
        variables: required(DataTypes.JSONB, {}),
      },
      { sequelize, tableName: "campaign_receivers", timestamps: false },
    );
  }
}
