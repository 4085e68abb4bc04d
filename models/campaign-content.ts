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
 * What every mail of a campaign is made from, as it was at the request: later edits of the template, the list or the
 * company change nothing here. Read by the renderer once per campaign, by SQL that joins what else it needs.
 */
export class CampaignContent extends Model<InferAttributes<CampaignContent>, InferCreationAttributes<CampaignContent>> {
  declare campaignId: string;
  declare companyId: string;
  declare subject: string;
  /** The HTML that is sent, whatever it was made of. */
  declare body: string;
  declare preheader: CreationOptional<string | null>;
  declare textBody: CreationOptional<string | null>;
  /** As the request or the template said; it has been done. */
  declare inlineCss: CreationOptional<boolean>;
  declare senderName: string;
  declare senderEmail: string;
  declare replyToEmail: CreationOptional<string | null>;
  declare listIdName: string;
  declare listIdRef: string;
  declare companyName: string;
  declare footerText: CreationOptional<string>;
  declare trackingEnabled: boolean;
  declare mediaIds: CreationOptional<string[]>;
  declare links: CreationOptional<string[] | null>;
  /** What the request said beyond the columns of a campaign and its contents (statements/campaign-request.ts). */
  declare further: CreationOptional<Record<string, unknown> | null>;
  /** Tags of its links (services/tracking/hits/utm.ts). */
  declare utm: CreationOptional<Record<string, string> | null>;
  /** The span of the send, where its request was traced (statements/campaign-traces.ts). */
  declare traceparent: CreationOptional<string | null>;

  static register(sequelize: Sequelize): void {
    CampaignContent.init(
      {
        campaignId: primaryKey(),
        companyId: company(),
        subject: required(DataTypes.TEXT),
        body: required(DataTypes.TEXT),
        preheader: nullable(DataTypes.TEXT),
        textBody: nullable(DataTypes.TEXT),
        inlineCss: required(DataTypes.BOOLEAN, false),
        senderName: required(DataTypes.TEXT),
        senderEmail: required(DataTypes.TEXT),
        replyToEmail: nullable(DataTypes.TEXT),
        listIdName: required(DataTypes.TEXT),
        listIdRef: required(DataTypes.UUID),
        companyName: required(DataTypes.TEXT),
        footerText: required(DataTypes.TEXT, ""),
        trackingEnabled: required(DataTypes.BOOLEAN),
        mediaIds: required(DataTypes.ARRAY(DataTypes.UUID), []),
        links: nullable(DataTypes.ARRAY(DataTypes.TEXT)),
        further: nullable(DataTypes.JSONB),
        utm: nullable(DataTypes.JSONB),
        traceparent: nullable(DataTypes.TEXT),
      },
      { sequelize, tableName: "campaign_contents", timestamps: false },
    );
  }
}
