/** Webhook endpoints as a resource. */
import { listModels } from "../../models/database/listing.ts";
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
import { newSecret } from "./signature.ts";

const OLD_SECRET_SIGNS_MS = 24 * 60 * 60 * 1000;

type Input = Pick<ParamsOf<"webhooks.create">, "url" | "events">;

export async function listEndpoints(ctx: Ctx<ListQuery>) {
  const companyId = companyOf(ctx);
  const { count, results } = await listModels(
    WebhookEndpoint,
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
  return { count, results: results.map((endpoint) => endpoint.view()) };
}

/** What is wrong with a webhook's address, as a sentence, or null. Its host is resolved and checked again at each delivery. */
export async function urlError(text: string, allowPrivate = config().ALLOW_PRIVATE_NETWORKS): Promise<string | null> {
  if (!URL.canParse(text)) return "Enter a valid URL.";
  const url = new URL(text);
  if (url.protocol !== "https:" && !((allowPrivate || isPermittedHost(url.hostname)) && url.protocol === "http:"))
    return "The URL must begin with https://.";
  if (url.username !== "" || url.password !== "") return "The URL must not contain a user name or password.";
  // Everything is allowed, so there is nothing to resolve; and a host that has no address today may have one tomorrow.
  if (allowPrivate) return null;
  return resolvePublic(url.hostname, { allowPrivate }).then(
    () => null,
    (error: unknown) => {
      if (!(error instanceof HostError)) throw error;
      return error.reason === "refused" ? error.message : null;
    },
  );
}

/** A plan without the feature comes first: what is wrong with the body does not matter then. */
export async function endpointErrors(
  ctx: Ctx<Input>,
  isValid: (field: "url" | "events") => boolean,
): Promise<FieldErrors> {
  await call(ctx, "accounts.requireFeature", { feature: "webhooks" });
  const error = isValid("url") ? await urlError(ctx.params.url) : null;
  return error ? { url: [error] } : {};
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

/** An edit shows that somebody has looked at the endpoint: one that was disabled gets a new chance. */
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
