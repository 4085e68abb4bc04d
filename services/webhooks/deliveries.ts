/** Delivery log, test events and redelivery. */
import { sequelize } from "../../models/database/db.ts";
import { isOneOf, listModels } from "../../models/database/listing.ts";
import { WebhookDelivery } from "../../models/webhook-delivery.ts";
import { call, emitWebhookQueued } from "../call.ts";
import type { ParamsOf, ReturnsOf } from "../contracts.ts";
import { type Ctx, companyOf } from "../lib/caller.ts";
import { notFound, wrongState } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { endpointOf } from "./endpoints.ts";

type DeliveryView = ReturnsOf<"webhooks.test">;

export async function listDeliveries(ctx: Ctx<ParamsOf<"webhooks.listDeliveries">>) {
  const companyId = companyOf(ctx);
  const { id } = await endpointOf(companyId, ctx.params.id);
  const { status, event_type } = ctx.params;
  const values: unknown[] = [companyId, id];
  const where = ["company_id = $1", "endpoint_id = $2"];
  if (status) where.push(isOneOf("status", status, values));
  if (event_type) where.push(isOneOf("event_type", event_type, values));
  const { results, ...page } = await listModels(
    WebhookDelivery,
    {
      from: "webhook_deliveries",
      columns: "id, event_id, event_type, status, attempts, response_status, last_error, next_attempt_at, created_at",
      where,
      values,
      id: "id",
      orderings: {},
      searchIn: [],
      counter: [companyId, "webhook_deliveries", id],
      filtered: values.length > 2,
      large: true,
    },
    ctx.params,
  );
  return { ...page, results: results.map((delivery) => delivery.view()) };
}

export async function getDelivery(ctx: Ctx<ParamsOf<"webhooks.getDelivery">>) {
  const { id: endpointId, delivery_id: id } = ctx.params;
  const delivery = await WebhookDelivery.findOne({ where: { companyId: companyOf(ctx), endpointId, id } });
  if (!delivery) throw notFound();
  return { ...delivery.view(), payload: delivery.payload };
}

async function enabledEndpoint(ctx: Ctx<{ id: string }>) {
  await call(ctx, "accounts.requireFeature", { feature: "webhooks" });
  const endpoint = await endpointOf(companyOf(ctx), ctx.params.id);
  if (endpoint.disabledAt) throw wrongState("This endpoint is disabled. Update it to enable it again.");
  return endpoint;
}

// Uses the database's clock, because claims compare against it.
const due = () => sequelize().fn("now");

export async function sendTest(ctx: Ctx<ParamsOf<"webhooks.test">>): Promise<DeliveryView> {
  const { id: endpointId, companyId, events } = await enabledEndpoint(ctx);
  const event = {
    id: newId(),
    type: events[0]!,
    recipient: "test@example.com",
    sent_email_id: newId(),
    campaign_id: newId(),
    metadata: { test: true },
    timestamp: new Date().toISOString(),
  };
  const delivery = await WebhookDelivery.create({
    companyId,
    endpointId,
    eventId: event.id,
    eventType: event.type,
    payload: event,
  });
  await emitWebhookQueued(ctx, [companyId]);
  return delivery.view();
}

/** Restarts the retry schedule and keeps the webhook-id, so that a receiver can recognise a duplicate. */
export async function redeliver(ctx: Ctx<ParamsOf<"webhooks.redeliver">>): Promise<DeliveryView> {
  const { id: endpointId, companyId } = await enabledEndpoint(ctx);
  const [, [delivery]] = await WebhookDelivery.update(
    { status: "pending", attempts: 0, nextAttemptAt: due(), responseStatus: null, lastError: null },
    { where: { companyId, endpointId, id: ctx.params.delivery_id }, returning: true },
  );
  if (!delivery) throw notFound();
  await emitWebhookQueued(ctx, [companyId]);
  return delivery.view();
}
