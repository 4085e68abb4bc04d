/** The delivery log, and what a user can do with it: send a test, deliver again. */
import { queryOne } from "../../models/database/db.ts";
import { listPage } from "../../models/database/listing.ts";
import { call, emitWebhookQueued } from "../call.ts";
import type { ParamsOf, ReturnsOf } from "../contracts.ts";
import { type Ctx, companyOf } from "../lib/caller.ts";
import { notFound, wrongState } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { endpointOf } from "./endpoints.ts";

type Delivery = ReturnsOf<"webhooks.test">;

interface Row extends Omit<Delivery, "next_attempt_at" | "created_at"> {
  next_attempt_at: Date | null;
  created_at: Date;
}

const COLUMNS = "id, event_id, event_type, status, attempts, response_status, last_error, next_attempt_at, created_at";

const view = (row: Row): Delivery => ({
  ...row,
  next_attempt_at: row.next_attempt_at?.toISOString() ?? null,
  created_at: row.created_at.toISOString(),
});

export async function listDeliveries(ctx: Ctx<ParamsOf<"webhooks.listDeliveries">>) {
  const companyId = companyOf(ctx);
  const { id } = await endpointOf(companyId, ctx.params.id);
  const { count, results } = await listPage<Row>(
    {
      from: "webhook_deliveries",
      columns: COLUMNS,
      where: ["company_id = $1", "endpoint_id = $2"],
      values: [companyId, id],
      id: "id",
      orderings: {},
      searchIn: [],
      counter: [companyId, "webhook_deliveries", id],
    },
    ctx.params,
  );
  return { count, results: results.map(view) };
}

async function enabledEndpoint(ctx: Ctx<{ id: string }>) {
  await call(ctx, "accounts.requireFeature", { feature: "webhooks" });
  const endpoint = await endpointOf(companyOf(ctx), ctx.params.id);
  if (endpoint.disabledAt) throw wrongState("This endpoint is disabled. Update it to enable it again.");
  return endpoint;
}

const INSERT = `
  insert into webhook_deliveries (company_id, endpoint_id, event_id, event_type, payload)
  values ($1, $2, $3, $4, $5) returning ${COLUMNS}`;

export async function sendTest(ctx: Ctx<ParamsOf<"webhooks.test">>): Promise<Delivery> {
  const { id, companyId, events } = await enabledEndpoint(ctx);
  const event = {
    id: newId(),
    type: events[0]!,
    recipient: "test@example.com",
    sent_email_id: newId(),
    campaign_id: newId(),
    metadata: { test: true },
    timestamp: new Date().toISOString(),
  };
  const row = await queryOne<Row>(INSERT, [companyId, id, event.id, event.type, JSON.stringify(event)]);
  await emitWebhookQueued(ctx, [companyId]);
  return view(row!);
}

const AGAIN = `
  update webhook_deliveries
  set status = 'pending', attempts = 0, next_attempt_at = now(), response_status = null, last_error = null
  where company_id = $1 and endpoint_id = $2 and id = $3 returning ${COLUMNS}`;

/** The schedule begins anew, the webhook-id stays: a receiver that had the event knows it again. */
export async function redeliver(ctx: Ctx<ParamsOf<"webhooks.redeliver">>): Promise<Delivery> {
  const { id, companyId } = await enabledEndpoint(ctx);
  const row = await queryOne<Row>(AGAIN, [companyId, id, ctx.params.delivery_id]);
  if (!row) throw notFound();
  await emitWebhookQueued(ctx, [companyId]);
  return view(row);
}
