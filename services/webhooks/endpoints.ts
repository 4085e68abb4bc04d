/** Webhook endpoints as a resource. */
import type { Transaction } from "sequelize";
import { listModels } from "../../models/database/listing.ts";
import type { AuditedChange } from "../../models/statements/audit-log.ts";
import { WebhookEndpoint } from "../../models/webhook-endpoint.ts";
import { call } from "../call.ts";
import type { ParamsOf } from "../contracts.ts";
import { type Ctx, companyOf } from "../lib/caller.ts";
import { config } from "../lib/config.ts";
import { type FieldErrors, notFound } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import { seal } from "../lib/secrets.ts";
import type { ListQuery } from "../lib/shapes.ts";
import { HostError, isPermittedHost, resolvePublic } from "../lib/ssrf/guard.ts";
import { permittedWrite } from "../permitted-write.ts";
import { newSecret } from "./signature.ts";

const OLD_SECRET_SIGNS_MS = 24 * 60 * 60 * 1000;

type Input = Pick<ParamsOf<"webhooks.create">, "url" | "events">;

export async function listEndpoints(ctx: Ctx<ListQuery>) {
  const companyId = companyOf(ctx);
  const { results, ...page } = await listModels(
    WebhookEndpoint,
    {
      from: "webhook_endpoints w",
      columns: "w.id, w.url, w.events, w.failing_since, w.disabled_at, w.created_at",
      where: ["w.company_id = $1"],
      values: [companyId],
      id: "w.id",
      orderings: { url: "w.url" },
      searchIn: ["w.url"],
      counter: [companyId, "webhook_endpoints", companyId],
    },
    ctx.params,
  );
  return { ...page, results: results.map((endpoint) => endpoint.view()) };
}

/**
 * Validates a webhook URL: returns an error sentence or null. The host is resolved and checked again at each delivery.
 */
export async function urlError(text: string, allowPrivate = config().ALLOW_PRIVATE_NETWORKS): Promise<string | null> {
  if (!URL.canParse(text)) return "Enter a valid URL.";
  const url = new URL(text);
  if (url.protocol !== "https:" && !((allowPrivate || isPermittedHost(url.hostname)) && url.protocol === "http:"))
    return "The URL must start with https://.";
  if (url.username !== "" || url.password !== "") return "The URL must not contain a user name or password.";
  // Private hosts are allowed, so there is nothing to resolve.
  if (allowPrivate) return null;
  return resolvePublic(url.hostname, { allowPrivate }).then(
    () => null,
    (error: unknown) => {
      if (!(error instanceof HostError)) throw error;
      return error.reason === "refused" ? error.message : null;
    },
  );
}

/** Checks the plan first: without the feature, errors in the body do not matter. */
export async function endpointErrors(
  ctx: Ctx<Input>,
  isValid: (field: "url" | "events") => boolean,
): Promise<FieldErrors> {
  await call(ctx, "accounts.requireFeature", { feature: "webhooks" });
  const error = isValid("url") ? await urlError(ctx.params.url) : null;
  return error ? { url: [error] } : {};
}

export async function endpointOf(
  companyId: string,
  id: string,
  transaction: Transaction | null = null,
): Promise<WebhookEndpoint> {
  const endpoint = await WebhookEndpoint.findOne({ where: { id, companyId }, transaction });
  if (!endpoint) throw notFound();
  return endpoint;
}

const unique = (events: Input["events"]) => [...new Set(events)];

export async function createEndpoint(ctx: Ctx<Input>) {
  const companyId = companyOf(ctx);
  const { url, events } = ctx.params;
  const id = newId();
  const secret = newSecret();
  const audited: AuditedChange = { action: "webhook.created", target: id, detail: { url, events } };
  const values = { id, companyId, url, events: unique(events), secretSealed: seal(secret, id) };
  const endpoint = await permittedWrite(ctx, "webhooks.create", audited, (transaction) =>
    WebhookEndpoint.create(values, { transaction }),
  );
  return { ...endpoint.view(), secret };
}

/**
 * Replaces an endpoint and enables it again unless `disabled` is true. An endpoint disabled on request has no
 * `failing_since`; one disabled after failures has.
 */
export function updateEndpoint(ctx: Ctx<ParamsOf<"webhooks.update">>) {
  const { id, url, events, disabled = false } = ctx.params;
  const audited: AuditedChange = { action: "webhook.updated", target: id, detail: { url, events, disabled } };
  return permittedWrite(ctx, "webhooks.update", audited, async (transaction) => {
    const endpoint = await endpointOf(companyOf(ctx), id, transaction);
    const disabledAt = disabled ? (endpoint.disabledAt ?? new Date()) : null;
    await endpoint.update({ url, events: unique(events), disabledAt, failingSince: null }, { transaction });
    return endpoint.view();
  });
}

export function removeEndpoint(ctx: Ctx<{ id: string }>): Promise<null> {
  const where = { id: ctx.params.id, companyId: companyOf(ctx) };
  return permittedWrite(
    ctx,
    "webhooks.remove",
    { action: "webhook.deleted", target: ctx.params.id },
    async (transaction) => {
      if ((await WebhookEndpoint.destroy({ where, transaction })) === 0) throw notFound();
      return null;
    },
  );
}

export function rotateSecret(ctx: Ctx<{ id: string }>) {
  const { id } = ctx.params;
  const secret = newSecret();
  return permittedWrite(
    ctx,
    "webhooks.rotateSecret",
    { action: "webhook.secret_rotated", target: id },
    async (transaction) => {
      const endpoint = await endpointOf(companyOf(ctx), id, transaction);
      const values = {
        secretSealed: seal(secret, id),
        oldSecretSealed: endpoint.secretSealed,
        oldSecretUntil: new Date(Date.now() + OLD_SECRET_SIGNS_MS),
      };
      await endpoint.update(values, { transaction });
      return { secret };
    },
  );
}
