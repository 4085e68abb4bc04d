import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { company, nullable, primaryKey, required } from "./database/columns.ts";

export const WINNER_METRICS = ["opens", "clicks"] as const;
export type WinnerMetric = (typeof WINNER_METRICS)[number];

/**
 * Columns of campaign_contents in which the variants of a campaign may differ, and where they come from in a template (alias
 * t). Whatever else mails are made from is the campaign's.
 */
export const VARIED_CONTENTS = {
  subject: "t.subject",
  body: "coalesce(t.html, t.body)",
  preheader: "t.preheader",
  text_body: "t.text_body",
} as const;

/**
 * A variant of a campaign (A/B test). `content` is what it has of its own until the campaign begins, and from then on all of
 * VARIED_CONTENTS: recipients of the test get that, and keep it, whatever wins. The rest of the recipients gets
 * campaign_contents, which has the first variant's content from the beginning and the winner's once that is decided. So
 * whoever reads a campaign's contents need not know of variants.
 *
 * Who gets which is a column of the recipient (`sent_emails.variant`), written with its row.
 */
export class CampaignVariant extends Model<InferAttributes<CampaignVariant>, InferCreationAttributes<CampaignVariant>> {
  declare companyId: string;
  declare campaignId: string;
  declare index: number;
  declare percent: number;
  declare subject: CreationOptional<string | null>;
  declare templateId: CreationOptional<string | null>;
  declare content: CreationOptional<Record<string, unknown>>;
  declare recipients: CreationOptional<number>;

  static register(sequelize: Sequelize): void {
    CampaignVariant.init(
      {
        companyId: company(),
        campaignId: primaryKey(),
        index: primaryKey(DataTypes.SMALLINT),
        percent: required(DataTypes.DOUBLE),
        subject: nullable(DataTypes.TEXT),
        templateId: nullable(DataTypes.UUID),
        content: required(DataTypes.JSONB, {}),
        recipients: required(DataTypes.INTEGER, 0),
      },
      { sequelize, tableName: "campaign_variants", timestamps: false },
    );
  }
}

/**
 * Of a campaign whose rest waits for the winner of its variants. `dueAt` is set when each recipient of the test has been
 * tried; the winner is decided then, once (statements/decide-winner.ts).
 */
export class CampaignWinner extends Model<InferAttributes<CampaignWinner>, InferCreationAttributes<CampaignWinner>> {
  declare companyId: string;
  declare campaignId: string;
  declare metric: WinnerMetric;
  declare afterMinutes: number;
  declare dueAt: CreationOptional<Date | null>;
  declare winner: CreationOptional<number | null>;
  declare decidedAt: CreationOptional<Date | null>;

  static register(sequelize: Sequelize): void {
    CampaignWinner.init(
      {
        companyId: company(),
        campaignId: primaryKey(),
        metric: required(DataTypes.TEXT),
        afterMinutes: required(DataTypes.DOUBLE),
        dueAt: nullable(DataTypes.DATE),
        winner: nullable(DataTypes.SMALLINT),
        decidedAt: nullable(DataTypes.DATE),
      },
      { sequelize, tableName: "campaign_winners", timestamps: false },
    );
  }
}
