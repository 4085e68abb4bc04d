import {
  type CreationOptional,
  DataTypes,
  type InferAttributes,
  type InferCreationAttributes,
  Model,
  type Sequelize,
} from "sequelize";
import { company, id, nullable, required } from "./database/columns.ts";
import type { WebhookEventType } from "./email-event.ts";

/** Endpoint that receives a company's events. Its signing secrets are sealed with the endpoint's id. */
export class WebhookEndpoint extends Model<InferAttributes<WebhookEndpoint>, InferCreationAttributes<WebhookEndpoint>> {
  declare id: CreationOptional<string>;
  declare companyId: string;
  declare url: string;
  declare events: WebhookEventType[];
  declare secretSealed: Buffer;
  declare oldSecretSealed: CreationOptional<Buffer | null>;
  declare oldSecretUntil: CreationOptional<Date | null>;
  declare failingSince: CreationOptional<Date | null>;
  declare disabledAt: CreationOptional<Date | null>;
  declare createdAt: CreationOptional<Date>;
  declare updatedAt: CreationOptional<Date>;

  static register(sequelize: Sequelize): void {
    WebhookEndpoint.init(
      {
        id: id(),
        companyId: company(),
        url: required(DataTypes.TEXT),
        events: required(DataTypes.ARRAY(DataTypes.TEXT)),
        secretSealed: required(DataTypes.BLOB),
        oldSecretSealed: nullable(DataTypes.BLOB),
        oldSecretUntil: nullable(DataTypes.DATE),
        failingSince: nullable(DataTypes.DATE),
        disabledAt: nullable(DataTypes.DATE),
        createdAt: required(DataTypes.DATE),
        updatedAt: required(DataTypes.DATE),
      },
      { sequelize, tableName: "webhook_endpoints" },
    );
  }

  view() {
    return {
      id: this.id,
      url: this.url,
      events: this.events,
      failing_since: this.failingSince?.toISOString() ?? null,
      disabled_at: this.disabledAt?.toISOString() ?? null,
      created_at: this.createdAt.toISOString(),
    };
  }
}
