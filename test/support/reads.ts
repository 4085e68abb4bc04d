/**
 * Every read of the API: each GET of routes.ts, and each list with every documented filter, ordering and search, on its
 * first and later pages. For query plans and cost.
 */
import { finished } from "node:stream/promises";
import type { ServiceBroker } from "moleculer";
import { contractOf } from "../../services/contracts.ts";
import { pathNames, propertiesOf } from "../../services/gateway/http/params.ts";
import { type Route, routes } from "../../services/gateway/routes.ts";
import { downloadFrom } from "../../services/lib/download.ts";
import type { Large } from "./large-installation.ts";

export interface Read {
  name: string;
  route: Route;
  query: Record<string, string>;
}

/** Excluded: reads that query external servers, never end, or are not available to companies. */
const LEFT_OUT = ["smtp-sender.deliverability", "campaigns.checkDraft", "tracking.open", "tracking.click"];

/** For long enumerations: values that occur, and one that does not. */
const ACTIONS = ["auth.login", "campaign.sent", "list.deleted"];
const MANY = 12;

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString();

/** Values for filters by name: frequent, rare and missing ones. */
const valuesOf = (large: Large): Record<string, string[]> => ({
  list: [large.list, large.smallList],
  list_id: [large.list],
  segment: [large.segment],
  segment_id: [large.segment],
  campaign: [large.campaign, large.oldCampaign],
  recipient: [large.email, "nobody@example.com"],
  search: ["lovelace", large.email, "example", "nobody-at-all", "zo"],
  actor: ["ann@example.com", "Shop", "nobody"],
  content_type: ["image/png"],
  since: [daysAgo(180), daysAgo(1)],
  until: [daysAgo(180), daysAgo(364)],
  created_after: [daysAgo(180), daysAgo(1)],
  created_before: [daysAgo(180), daysAgo(364)],
  days: ["30", "365"],
});

/** Combinations, besides each filter alone. */
const together = (large: Large): Record<string, Record<string, string>[]> => ({
  "subscribers.list": [
    { list: large.list, status: "complained" },
    { list: large.list, status: "active" },
    { list: large.smallList, search: "grace" },
    { status: "bounced", search: "hopper", ordering: "email" },
    { status: "active", ordering: "first_name" },
  ],
  "tracking.listSentEmails": [
    { campaign: large.campaign, status: "bounced" },
    { campaign: large.oldCampaign, status: "failed", ordering: "created_at" },
    { campaign: large.oldCampaign, search: "ada" },
    { recipient: large.email, status: "sent", ordering: "sent_at" },
    { status: "queued", ordering: "created_at" },
  ],
  "tracking.listEvents": [
    { type: "complained", campaign: large.campaign },
    { type: "opened", since: daysAgo(30), until: daysAgo(29) },
  ],
  "webhooks.listDeliveries": [
    { status: "dead", event_type: "complained" },
    { status: "succeeded", event_type: "delivered", ordering: "created_at" },
  ],
  "bounces.listInbound": [
    { result: "complained", via: "brevo" },
    { result: "bounced", search: "nobody-at-all" },
  ],
  "campaigns.list": [
    { status: "partial", campaign_type: "to_list" },
    { status: "completed", search: "to_list 3" },
    { campaign_type: "custom", ordering: "name" },
  ],
  "accounts.listAuditLog": [
    { actor: "Shop", action: "campaign.sent", since: daysAgo(30) },
    { action: "auth.login", until: daysAgo(30) },
  ],
});

const PLAIN = new Set(["page", "page_size", "ordering"]);

function filtersOf(route: Route, large: Large): Record<string, string>[] {
  const properties = propertiesOf(contractOf(route.action));
  const knownValues = valuesOf(large);
  const inPath = pathNames(route.path);
  const isSearchable = /Search looks into/.test(contractOf(route.action).description ?? "") || route.answer !== "list";
  return Object.entries(properties).flatMap(([name, { enum: values }]) => {
    if (PLAIN.has(name) || inPath.includes(name) || (name === "search" && !isSearchable)) return [];
    const all = values as string[] | undefined;
    const asked = all ? (all.length > MANY ? ACTIONS : all) : (knownValues[name] ?? []);
    return asked.map((value) => ({ [name]: value }));
  });
}

function orderingsOf(route: Route): string[] {
  const fields = /Sortable: ([\w, ]+)\./.exec(contractOf(route.action).description ?? "")?.[1]?.split(", ") ?? [];
  return fields.flatMap((field) => [field, `-${field}`]);
}

/** The API's documented last page of filtered lists. */
const LAST_FILTERED = 500;

type Query = Record<string, string>;

function queriesOf(route: Route, large: Large): Query[] {
  const filters = filtersOf(route, large);
  if (route.answer !== "list") return [{}, ...filters];
  const pages: Query[] = [2, LAST_FILTERED].map((page) => ({ page: String(page) }));
  const queries: Query[] = [
    {},
    ...pages,
    { page: "last" },
    ...orderingsOf(route).flatMap((ordering): Query[] => [
      { ordering },
      { ordering, page: String(LAST_FILTERED) },
      { ordering, page: "last" },
    ]),
    ...filters.flatMap((filter) => [filter, ...pages.map((page) => ({ ...filter, ...page }))]),
    ...filters.map((filter) => ({ ...filter, page: String(LAST_FILTERED * 3) })),
    ...(together(large)[route.action] ?? []),
  ];
  return queries;
}

export function readsOf(large: Large): Read[] {
  return routes
    .filter(({ method, access, action }) => method === "GET" && !LEFT_OUT.includes(action) && access !== "public")
    .flatMap((route) =>
      queriesOf(route, large).map((query) => {
        const text = Object.entries(query).map(([name, value]) => `${name}=${value.replace(/^[0-9a-f-]{36}$/, "id")}`);
        return { name: [route.path, text.join("&")].filter(Boolean).join("?"), route, query };
      }),
    );
}

/** Values of `:id` by path prefix. */
const IDS: [prefix: string, id: keyof Large][] = [
  ["/api/emails/subscribers/", "subscriber"],
  ["/api/emails/lists/", "list"],
  ["/api/emails/templates/", "template"],
  ["/api/emails/smtp-configs/", "smtp"],
  ["/api/emails/campaigns/", "oldCampaign"],
  ["/api/emails/drafts/", "draft"],
  ["/api/emails/webhook-endpoints/", "endpoint"],
  ["/api/emails/suppressions/", "suppression"],
  ["/api/emails/imports/", "imported"],
  ["/api/emails/inbound/", "inbound"],
  ["/api/emails/segments/", "segment"],
  ["/api/emails/media/", "media"],
  ["/api/emails/saved-blocks/", "savedBlock"],
  ["/api/companies/", "company"],
];

function idOf(path: string, name: string, large: Large): string {
  if (name === "version") return "1";
  if (name === "delivery_id") return large.delivery;
  const known = name === "id" && IDS.find(([prefix]) => path.startsWith(prefix));
  if (!known) throw new Error(`Nobody knows ${name} of ${path}: extend this`);
  return large[known[1]];
}

/** The path with ids filled in. */
export const addressOf = ({ route: { path } }: Read, large: Large): string =>
  path.replaceAll(/:(\w+)/g, (_, name: string) => idOf(path, name, large));

/** The action's parameters, as the gateway reads them from path and query. */
export function paramsOf({ route: { action, path }, query }: Read, large: Large): Record<string, unknown> {
  const properties = propertiesOf(contractOf(action));
  const ids = pathNames(path).map((name) => [name, idOf(path, name, large)] as const);
  const typed = ([name, text]: readonly [string, string]) => {
    const type = properties[name]?.type;
    return [name, type === "integer" ? Number(text) : type === "boolean" ? text === "true" : text];
  };
  return Object.fromEntries([...ids, ...Object.entries(query)].map(typed));
}

/** Replaces the page `last` with the number from the first page's answer. */
export async function withLastPage(read: Read, countOf: (first: Read) => Promise<number>): Promise<Read> {
  if (read.query.page !== "last") return read;
  const { page: _, ...query } = read.query;
  const pages = Math.ceil((await countOf({ ...read, query })) / 20);
  return { ...read, query: { ...query, page: String(Math.max(1, pages)) } };
}

/** Calls the action as an owner; reads the first bytes of a download, or all. */
export async function callRead(
  broker: ServiceBroker,
  read: Read,
  large: Large,
  userId: string,
  { whole = false } = {},
): Promise<unknown> {
  const meta = { companyId: large.company, userId, role: "owner" };
  const { action, answer } = read.route;
  const params = paramsOf(read, large);
  if (answer !== "csv" || !whole) return broker.call(action, params, { meta });
  await finished((await downloadFrom(broker, { action, params }, { meta })).resume());
  return null;
}
