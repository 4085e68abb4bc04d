/**
 * Webhooks: endpoints, their deliveries and responses. A secret is shown only once, in the response that creates it.
 */
import { WEBHOOK_EVENT_TYPES } from "../../../models/email-event.ts";
import { WEBHOOK_DELIVERY_STATUSES } from "../../../models/webhook-delivery.ts";
import type { ReturnsOf } from "../../contracts.ts";
import { type Errors, orAgain } from "../form-errors.ts";
import { messages } from "../messages.ts";
import { askedOf, pagerOf } from "../pager.ts";
import { formatted } from "../render.ts";
import { type Answer, type CompanyVisit, callIn, companyPath, may, type Outcome, requireMay } from "../request.ts";

const t = messages.webhooks;

type Endpoint = ReturnsOf<"webhooks.get">;

/**
 * Describes the state of an endpoint. Unlike one that failed too long, one disabled by a person has no `failing_since`.
 */
export function stateOf({ disabled_at, failing_since }: Endpoint): keyof typeof t.states {
  if (disabled_at !== null) return failing_since === null ? "paused" : "disabled";
  return failing_since === null ? "active" : "failing";
}

export async function webhooksPage(visit: CompanyVisit): Promise<Answer> {
  const { query } = visit;
  const { results, ...paging } = await callIn(visit, "webhooks.list", askedOf(query));
  const here = companyPath(visit, "webhooks");
  return {
    view: "webhooks",
    title: t.title,
    values: {
      endpoints: results.map((endpoint) => ({ ...endpoint, state: stateOf(endpoint) })),
      here,
      pager: pagerOf(here, query, paging),
      mayWrite: may(visit, "webhooks.create"),
    },
  };
}

/** Event types to choose from. */
const EVENTS = WEBHOOK_EVENT_TYPES.map((value) => ({ value, label: t.eventNames[value], hint: t.eventHints[value] }));

/** Reads the ticked events: fields named `event.` plus the event's name. */
const eventsOf = (form: Record<string, string>) =>
  WEBHOOK_EVENT_TYPES.filter((event) => form[`event.${event}`] !== undefined);

export function newWebhookPage(visit: CompanyVisit, errors: Errors = {}): Answer {
  requireMay(visit, "webhooks.create");
  return {
    view: "webhook-form",
    title: t.newTitle,
    values: {
      events: EVENTS,
      url: visit.form.url ?? "",
      chosen: eventsOf(visit.form),
      errors,
      here: companyPath(visit, "webhooks/new"),
    },
  };
}

export const makeWebhook = (visit: CompanyVisit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      const { url = "" } = visit.form;
      const { id, secret } = await callIn(visit, "webhooks.create", { url, events: eventsOf(visit.form) });
      return show({ ...visit, params: { id }, form: {} }, { secret: { text: secret, says: t.secret } });
    },
    async (errors) => newWebhookPage(visit, errors),
  );

interface ShowOptions {
  errors?: Errors;
  secret?: { text: string; says: string };
}

const readEndpoint = (visit: CompanyVisit): Promise<Endpoint> =>
  callIn(visit, "webhooks.get", { id: visit.params.id! });

const pathOf = (visit: CompanyVisit, rest = "") => companyPath(visit, `webhooks/${visit.params.id}${rest}`);

async function show(visit: CompanyVisit, { errors = {}, secret }: ShowOptions = {}): Promise<Answer> {
  const { query, form } = visit;
  const id = visit.params.id!;
  const status = WEBHOOK_DELIVERY_STATUSES.find((one) => one === query.status);
  const type = WEBHOOK_EVENT_TYPES.find((one) => one === query.event);
  const [endpoint, deliveries] = await Promise.all([
    readEndpoint(visit),
    callIn(visit, "webhooks.listDeliveries", {
      ...askedOf(query),
      id,
      ...(status ? { status } : {}),
      ...(type ? { event_type: type } : {}),
    }),
  ]);
  const here = pathOf(visit);
  const isTyped = form.url !== undefined;
  return {
    view: "webhook",
    title: endpoint.url,
    values: {
      endpoint,
      state: stateOf(endpoint),
      deliveries: deliveries.results,
      deleteHint: status || type ? t.deleteHint : t.deleteHintWith(formatted(deliveries.count)),
      events: EVENTS,
      url: isTyped ? form.url : endpoint.url,
      chosen: isTyped ? eventsOf(form) : endpoint.events,
      statuses: WEBHOOK_DELIVERY_STATUSES,
      asked: query,
      errors,
      secret,
      here,
      pager: pagerOf(here, query, deliveries),
      mayWrite: may(visit, "webhooks.update"),
    },
  };
}

export const webhookPage = (visit: CompanyVisit): Promise<Answer> => show(visit);

export const changeWebhook = (visit: CompanyVisit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      const { url = "" } = visit.form;
      await callIn(visit, "webhooks.update", { id: visit.params.id!, url, events: eventsOf(visit.form) });
      return { goTo: pathOf(visit), notice: "saved" };
    },
    (errors) => show(visit, { errors }),
  );

const switched =
  (disabled: boolean) =>
  async (visit: CompanyVisit): Promise<Answer> => {
    const { id, url, events } = await readEndpoint(visit);
    await callIn(visit, "webhooks.update", { id, url, events, disabled });
    return { goTo: pathOf(visit), notice: "saved" };
  };

export const pauseWebhook = switched(true);
export const enableWebhook = switched(false);

export async function testWebhook(visit: CompanyVisit): Promise<Answer> {
  const { id } = await callIn(visit, "webhooks.test", { id: visit.params.id! });
  return { goTo: pathOf(visit, `/deliveries/${id}`) };
}

export async function rotateWebhookSecret(visit: CompanyVisit): Promise<Answer> {
  const { secret } = await callIn(visit, "webhooks.rotateSecret", { id: visit.params.id! });
  return show(visit, { secret: { text: secret, says: t.rotated } });
}

export async function deleteWebhook(visit: CompanyVisit): Promise<Answer> {
  await callIn(visit, "webhooks.remove", { id: visit.params.id! });
  return { goTo: companyPath(visit, "webhooks"), notice: "deleted" };
}

/** Cuts off longer payloads, which can occur because senders choose `metadata`. */
const MAX_PAYLOAD_CHARS = 20_000;

export async function deliveryPage(visit: CompanyVisit): Promise<Answer> {
  const { id = "", delivery: delivery_id = "" } = visit.params;
  const [endpoint, delivery] = await Promise.all([
    readEndpoint(visit),
    callIn(visit, "webhooks.getDelivery", { id, delivery_id }),
  ]);
  const payload = JSON.stringify(delivery.payload, null, 2);
  return {
    view: "webhook-delivery",
    title: `${t.deliveryTitle}: ${t.eventNames[delivery.event_type]}`,
    values: {
      endpoint,
      delivery,
      payload: payload.slice(0, MAX_PAYLOAD_CHARS),
      cut: payload.length > MAX_PAYLOAD_CHARS ? t.cut(formatted(MAX_PAYLOAD_CHARS)) : null,
      isWaiting: delivery.status === "pending" && delivery.attempts === 0,
      here: pathOf(visit, `/deliveries/${delivery.id}`),
      back: pathOf(visit),
      mayWrite: may(visit, "webhooks.redeliver"),
    },
  };
}

export async function redeliver(visit: CompanyVisit): Promise<Answer> {
  const { id = "", delivery: delivery_id = "" } = visit.params;
  const { id: made } = await callIn(visit, "webhooks.redeliver", { id, delivery_id });
  return { goTo: pathOf(visit, `/deliveries/${made}`), notice: "queued" };
}
