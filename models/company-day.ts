import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { company, primaryKey, required } from "./database/columns.ts";

/** What happened to a company's people and mail on one day (UTC): kept by triggers, and a sum over the slots. */
export class CompanyDay extends Model<InferAttributes<CompanyDay>, InferCreationAttributes<CompanyDay>> {
  declare companyId: string;
  declare day: string;
  declare slot: number;
  declare sent: CreationOptional<number>;
  declare returned: CreationOptional<number>;
  declare bounced: CreationOptional<number>;
  declare complained: CreationOptional<number>;
  declare opens: CreationOptional<number>;
  declare clicks: CreationOptional<number>;
  declare peopleSubscribed: CreationOptional<number>;
  declare peopleUnsubscribed: CreationOptional<number>;
  declare peopleBounced: CreationOptional<number>;

  static register(sequelize: Sequelize): void {
    const count = () => required(DataTypes.BIGINT, 0);
    CompanyDay.init(
      {
        companyId: company(),
        day: primaryKey(DataTypes.DATEONLY),
        slot: primaryKey(DataTypes.SMALLINT),
        sent: count(),
        returned: count(),
        bounced: count(),
        complained: count(),
        opens: count(),
        clicks: count(),
        peopleSubscribed: count(),
        peopleUnsubscribed: count(),
        peopleBounced: count(),
      },
      { sequelize, tableName: "company_days", timestamps: false },
    );
  }
}
