import { type CreationOptional, DataTypes, type InferAttributes, type InferCreationAttributes, Model } from "sequelize";
import { newId } from "../services/lib/ids.ts";
import { defineModel } from "./database/define-model.ts";

export type EventType = "delivered" | "opened" | "clicked" | "bounced" | "unsubscribed";

/** Where a company wants to be told of events. The secret that signs them is sealed with the endpoint's id. */
export class WebhookEndpoint extends Model<InferAttributes<WebhookEndpoint>, InferCreationAttributes<WebhookEndpoint>> {
  declare id: CreationOptional<string>;
  declare companyId: string;
  declare url: string;
  declare events: EventType[];
  declare secretSealed: Buffer;
  declare oldSecretSealed: CreationOptional<Buffer | null>;
  declare oldSecretUntil: CreationOptional<Date | null>;
  declare failingSince: CreationOptional<Date | null>;
  declare disabledAt: CreationOptional<Date | null>;
  declare createdAt: CreationOptional<Date>;
  declare updatedAt: CreationOptional<Date>;

  view() {
    return {
      id: this.id,
      url: this.url,
      events: this.events,
      disabled_at: this.disabledAt?.toISOString() ?? null,
      created_at: this.createdAt.toISOString(),
    };
  }
}

defineModel((sequelize) =>
  WebhookEndpoint.init(
    {
      id: { type: DataTypes.UUID, primaryKey: true, defaultValue: newId },
      companyId: { type: DataTypes.UUID, primaryKey: true },
      url: { type: DataTypes.TEXT, allowNull: false },
      events: { type: DataTypes.ARRAY(DataTypes.TEXT), allowNull: false },
      secretSealed: { type: DataTypes.BLOB, allowNull: false },
      oldSecretSealed: DataTypes.BLOB,
      oldSecretUntil: DataTypes.DATE,
      failingSince: DataTypes.DATE,
      disabledAt: DataTypes.DATE,
      createdAt: DataTypes.DATE,
      updatedAt: DataTypes.DATE,
    },
    { sequelize, tableName: "webhook_endpoints" },
  ),
);
