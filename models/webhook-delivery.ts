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

/** Pending: another attempt comes. Succeeded and dead are final, until somebody asks for the delivery again. */
export const WEBHOOK_DELIVERY_STATUSES = ["pending", "succeeded", "dead"] as const;
type WebhookDeliveryStatus = (typeof WEBHOOK_DELIVERY_STATUSES)[number];

/**
 * The outbox of webhooks: one row per event and endpoint, written in the transaction of the event
 * (statements/webhook-outbox.ts) and delivered later by any node with the webhooks service.
 *
 * `nextAttemptAt` is when the next attempt is due and, while one runs, the end of its lease: the fence of its result.
 */
export class WebhookDelivery extends Model<InferAttributes<WebhookDelivery>, InferCreationAttributes<WebhookDelivery>> {
  declare id: CreationOptional<string>;
  declare companyId: string;
  declare endpointId: string;
  declare eventId: string;
  declare eventType: WebhookEventType;
  declare payload: Record<string, unknown>;
  declare status: CreationOptional<WebhookDeliveryStatus>;
  declare attempts: CreationOptional<number>;
  declare responseStatus: CreationOptional<number | null>;
  declare lastError: CreationOptional<string | null>;
  declare nextAttemptAt: CreationOptional<Date | null>;
  declare createdAt: CreationOptional<Date>;

  static register(sequelize: Sequelize): void {
    WebhookDelivery.init(
      {
        id: id(),
        companyId: company(),
        endpointId: required(DataTypes.UUID),
        eventId: required(DataTypes.UUID),
        eventType: required(DataTypes.TEXT),
        payload: required(DataTypes.JSONB),
        status: required(DataTypes.TEXT, "pending"),
        attempts: required(DataTypes.INTEGER, 0),
        responseStatus: nullable(DataTypes.INTEGER),
        lastError: nullable(DataTypes.TEXT),
        nextAttemptAt: nullable(DataTypes.DATE),
        createdAt: required(DataTypes.DATE),
      },
      { sequelize, tableName: "webhook_deliveries", updatedAt: false },
    );
  }

  view() {
    return {
      id: this.id,
      event_id: this.eventId,
      event_type: this.eventType,
      status: this.status,
      attempts: this.attempts,
      response_status: this.responseStatus,
      last_error: this.lastError,
      next_attempt_at: this.nextAttemptAt?.toISOString() ?? null,
      created_at: this.createdAt.toISOString(),
    };
  }
}
