import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { company, nullable, required } from "./database/columns.ts";

/**
 * Host that a company's emails link to instead of the service's own, once verified (services/accounts/tracking-domain/).
 */
export class TrackingDomain extends Model<InferAttributes<TrackingDomain>, InferCreationAttributes<TrackingDomain>> {
  declare companyId: string;
  /** Host in wire form: lower case, A-labels. */
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
