import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { company, nullable, required } from "./database/columns.ts";

/** The host that a company's mails link to in place of the service's own, once it is proved (services/accounts/tracking-domain/). */
export class TrackingDomain extends Model<InferAttributes<TrackingDomain>, InferCreationAttributes<TrackingDomain>> {
  declare companyId: string;
  /** In lower case, as it goes over the wire. */
  declare domain: string;
  declare token: string;
  declare claimedAt: CreationOptional<Date>;
  declare checkedAt: CreationOptional<Date | null>;
  declare provedAt: CreationOptional<Date | null>;

  static register(sequelize: Sequelize): void {
    TrackingDomain.init(
      {
        companyId: company(),
        domain: required(DataTypes.TEXT),
        token: required(DataTypes.TEXT),
        claimedAt: required(DataTypes.DATE, sequelize.fn("now")),
        checkedAt: nullable(DataTypes.DATE),
        provedAt: nullable(DataTypes.DATE),
      },
      { sequelize, tableName: "tracking_domains", timestamps: false },
    );
  }
}
