/** Webhook endpoints as a resource. */

import { listPage } from "../../models/database/listing.ts";
import { WebhookEndpoint } from "../../models/webhook-endpoint.ts";
import { call } from "../call.ts";
import type { ParamsOf, ReturnsOf } from "../contracts.ts";
import { type Ctx, companyOf } from "../lib/caller.ts";
import { type FieldErrors, notFound } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { seal } from "../lib/secrets.ts";
import type { ListQuery } from "../lib/shapes.ts";
import { urlFault } from "./endpoint-url.ts";
import { newSecret } from "./signature.ts";

const OLD_SECRET_SIGNS_MS = 24 * 60 * 60 * 1000;

type Input = Pick<ParamsOf<"webhooks.create">, "url" | "events">;
type View = ReturnsOf<"webhooks.get">;

interface Row extends Omit<View, "created_at" | "disabled_at"> {
  created_at: Date;
  disabled_at: Date | null;
}

export async function listEndpoints(ctx: Ctx<ListQuery>) {
  const companyId = companyOf(ctx);
  const { count, results } = await listPage<Row>(
    {
      from: "webhook_endpoints w",
      columns: "w.id, w.url, w.events, w.disabled_at, w.created_at",
      where: ["w.company_id = $1"],
      values: [companyId],
      id: "w.id",
      orderings: { url: "w.url" },
      searchIn: ["w.url"],
      counter: [companyId, "webhook_endpoints", companyId],
    },
    ctx.params,
  );
  const view = (row: Row): View => ({
    ...row,
    disabled_at: row.disabled_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
  });
  return { count, results: results.map(view) };
}

/** A plan without the feature is told first: what is wrong with the body does not matter then. */
export async function endpointErrors(
  ctx: Ctx<Input>,
  isValid: (field: "url" | "events") => boolean,
): Promise<FieldErrors> {
  await call(ctx, "accounts.requireFeature", { feature: "webhooks" });
  const fault = isValid("url") ? await urlFault(ctx.params.url) : null;
  return fault ? { url: [fault] } : {};
}

export async function endpointOf(companyId: string, id: string): Promise<WebhookEndpoint> {
  const endpoint = await WebhookEndpoint.findOne({ where: { id, companyId } });
  if (!endpoint) throw notFound();
  return endpoint;
}

const unique = (events: Input["events"]) => [...new Set(events)];

export async function createEndpoint(companyId: string, { url, events }: Input) {
  const id = newId();
  const secret = newSecret();
  const endpoint = await WebhookEndpoint.create({
    id,
    companyId,
    url,
    events: unique(events),
    secretSealed: seal(secret, id),
  });
  return { ...endpoint.view(), secret };
}

/** Whoever edits an endpoint has looked at it: one that was disabled gets a new chance. */
export async function updateEndpoint(companyId: string, { id, url, events }: Input & { id: string }) {
  const endpoint = await endpointOf(companyId, id);
  await endpoint.update({ url, events: unique(events), disabledAt: null, failingSince: null });
  return endpoint.view();
}

export async function removeEndpoint(companyId: string, id: string): Promise<null> {
  const removed = await WebhookEndpoint.destroy({ where: { id, companyId } });
  if (removed === 0) throw notFound();
  return null;
}

export async function rotateSecret(companyId: string, id: string) {
  const endpoint = await endpointOf(companyId, id);
  const secret = newSecret();
  await endpoint.update({
    secretSealed: seal(secret, id),
    oldSecretSealed: endpoint.secretSealed,
    oldSecretUntil: new Date(Date.now() + OLD_SECRET_SIGNS_MS),
  });
  return { secret };
}
