/**
 * List of events: opens, clicks, bounces, unsubscribes, complaints. They are in two tables (models/hit.ts): a page is
 * found by the keys of both in one order, then its rows are read.
 */
import { campaignNo } from "../../../models/database/campaign-no.ts";
import { query, queryOne } from "../../../models/database/db.ts";
import {
  isAfterKey,
  isOneOf,
  type Listing,
  listPage,
  type Page,
  type PageRange,
} from "../../../models/database/listing.ts";
import { EMAIL_EVENT_TYPES } from "../../../models/email-event.ts";
import { companyNo, HIT_RECIPIENT, type HitKey, hitsAt, hitsOfMails } from "../../../models/statements/hits.ts";
import { boundOf } from "../../../models/statements/time-zones.ts";
import type { ParamsOf, ReturnsOf } from "../../contracts.ts";
import { type Ctx, companyOf } from "../../lib/caller.ts";
import { firstIdAt } from "../../lib/ids.ts";

type ListParams = ParamsOf<"tracking.listEvents">;
type Event = ReturnsOf<"tracking.listEvents">["results"][number];

interface Row extends Omit<Event, "timestamp"> {
  created_at: Date;
}

/** Rows of email_events have no numbers. */
interface Key {
  id: string;
  campaign_no: number | null;
  seq: number | null;
}

/** Ids contain their time, by the clock of any node: the index on ids narrows the period, created_at decides. */
const CLOCK_SKEW_MS = 60_000;

const counted = (condition: string) => `(select coalesce(sum(k.n), 0) from campaigns c
  join campaign_counts k on k.company_id = c.company_id and k.campaign_id = c.id
  where c.company_id = $1 and ${condition} and k.metric = any ($2) and k.bucket = 0)`;
const OF_CAMPAIGN = `select ${counted("c.id = $3 and c.deleted_at is null")}::bigint n`;
/** Events of deleted campaigns are removed in the background, and hidden until then. */
const OF_ALL = `select greatest(count_of($1, $3, $1) - ${counted("c.deleted_at is not null")}, 0)::bigint n`;
/** `not in` matches nothing if there is a null, and campaigns that never expanded have no number. */
const DELETED = (column: "id" | "no") =>
  `(select ${column} from campaigns where company_id = $1 and deleted_at is not null and ${column} is not null)`;
const NOT_DELETED = `(e.campaign_id is null or e.campaign_id not in ${DELETED("id")})`;

/** Counter for exactly this filter, if there is one. */
function counterFor(
  companyId: string,
  { type, campaign, recipient, source, since, until }: ListParams,
): Partial<Listing> {
  if (recipient || source || since || until) return {};
  // No counter exists for several types or campaigns.
  if (Array.isArray(type) || Array.isArray(campaign)) return {};
  const metrics = (type ? [type] : EMAIL_EVENT_TYPES.filter((name) => name !== "delivered")).flatMap((name) => [
    name,
    `${name}_machine`,
  ]);
  const condition = campaign ? OF_CAMPAIGN : OF_ALL;
  const values = campaign ? [companyId, metrics, campaign] : [companyId, metrics, type ? `events:${type}` : "events"];
  return { count: async () => (await queryOne<{ n: number }>(condition, values))!.n };
}

/** SQL for the messages to an address: by its subscriber, and by rows with the address (models/sent-email.ts). */
const mailsTo = (address: string) => `
  select s.campaign_no, s.seq from subscribers p join sent_emails s on s.subscriber_id = p.id
  where p.company_id = $1 and p.email_key = address_key(${address})
    and lower(coalesce(s.email, p.email)) = lower(${address})
  union
  select campaign_no, seq from sent_emails
  where email is not null and lower(email) = lower(${address})`;

/** A table to read, with conditions and an order that an index supports. */
interface Source {
  columns: string;
  from: string;
  where: string[];
  order: string[];
  /** Position of an event's id in this order, as parameters. */
  positionOf: (id: string) => string[];
}

const RECIPIENT_OF_HIT = `left join sent_emails s on s.campaign_no = h.campaign_no and s.seq = h.seq
  left join subscribers p on p.company_id = $1 and p.id = s.subscriber_id`;

function sources(companyId: string, asked: ListParams): { sources: Source[]; values: unknown[] } {
  const values: unknown[] = [companyId];
  const add = (value: unknown) => `$${values.push(value)}`;
  const { campaign, since, until, search } = asked;
  const types = [asked.type ?? []].flat();
  const hitTypes = types.filter((type) => type === "opened" || type === "clicked");
  const mayBeHits = !asked.source && (types.length === 0 || hitTypes.length > 0);
  const events = ["e.company_id = $1", "e.type <> 'delivered'", NOT_DELETED];
  const hits = [`h.campaign_no not in ${DELETED("no")}`];
  let from = "hits h";
  // Campaigns and messages are already restricted to the company. Adding its number would make the planner expect
  // almost no rows, and sort.
  if (!campaign && !asked.recipient) hits.push(`h.company_no = ${companyNo("$1")}`);
  if (asked.type) {
    events.push(isOneOf("e.type", asked.type, values));
    if (hitTypes.length === 1) hits.push(hitTypes[0] === "opened" ? "h.link = 0" : "h.link > 0");
  }
  if (asked.source) events.push(`e.type = 'bounced' and ${isOneOf("e.metadata->>'source'", asked.source, values)}`);
  if (Array.isArray(campaign)) {
    const parameter = add(campaign);
    events.push(`e.campaign_id = any(${parameter})`);
    hits.push(`h.campaign_no in (select no from campaigns where company_id = $1 and id = any(${parameter}))`);
  } else if (campaign) {
    const parameter = add(campaign);
    events.push(`e.campaign_id = ${parameter}`);
    hits.push(`h.campaign_no = ${campaignNo(parameter, "$1")}`);
  }
  const addresses = [asked.recipient ?? []].flat().map((address) => add(address.trim()));
  if (addresses.length > 0) {
    events.push(`(${addresses.map((address) => `lower(e.recipient) = lower(${address})`).join(" or ")})`);
    from = hitsOfMails(`(${addresses.map(mailsTo).join(" union ")}) k`, "$1");
  }
  for (const [time, sign, skew] of [
    [since, ">=", -CLOCK_SKEW_MS],
    [until, "<", CLOCK_SKEW_MS],
  ] as const) {
    if (!time) continue;
    const at = new Date(time);
    events.push(`e.created_at ${sign} ${add(at)}`, `e.id ${sign} ${add(firstIdAt(at.getTime() + skew))}`);
    if (!mayBeHits) continue;
    // The id's time is that of the hit.
    const id = `${add(firstIdAt(at.getTime()))}::uuid`;
    hits.push(`h.id ${sign} ${id}`, `hit_stretch(h.id) ${sign === "<" ? "<=" : sign} hit_stretch(${id})`);
  }
  const recipient = (column: string) => (search ? `, ${column} as recipient` : "");
  return {
    values,
    sources: [
      {
        columns: `e.id, null::int as campaign_no, null::int as seq, e.created_at${recipient("e.recipient")}`,
        from: "email_events e",
        where: events,
        order: ["e.id"],
        positionOf: (id) => [`${id}::uuid`],
      },
      ...(mayBeHits
        ? [
            {
              columns: `h.id, h.campaign_no, h.seq, hit_at(h.id)${recipient(HIT_RECIPIENT)}`,
              from: search ? `${from} ${RECIPIENT_OF_HIT}` : from,
              where: hits,
              order: ["hit_stretch(h.id)", "h.id"],
              positionOf: (id: string) => [`hit_stretch(${id}::uuid)`, `${id}::uuid`],
            },
          ]
        : []),
    ],
  };
}

/** `range` limits each source to the rows that the page needs. */
const all = (given: readonly Source[], range?: PageRange) => {
  const selectOf = ({ columns, from, where, order, positionOf }: Source) => {
    if (!range) return `(select ${columns} from ${from} where ${where.join(" and ")})`;
    const { direction, limit, place } = range;
    const behind = isAfterKey(order, { ...range, place: place && positionOf(place[0]!) });
    const sorted = order.map((column) => `${column} ${direction}`).join(", ");
    return `(select ${columns} from ${from} where ${where.join(" and ")} and ${behind} order by ${sorted} limit ${limit})`;
  };
  return `(${given.map(selectOf).join("\n union all\n ")}) e`;
};

/** Converts days to the instants at which they begin. */
async function withInstants(companyId: string, asked: ListParams): Promise<ListParams> {
  const instant = async (given: string) => (await boundOf(companyId, given)).toISOString();
  return {
    ...asked,
    ...(asked.since === undefined ? {} : { since: await instant(asked.since) }),
    ...(asked.until === undefined ? {} : { until: await instant(asked.until) }),
  };
}

function listing(companyId: string, asked: ListParams): Listing {
  const { sources: both, values } = sources(companyId, asked);
  return {
    from: all(both),
    columns: "e.id, e.campaign_no, e.seq",
    where: ["true"],
    values,
    id: "e.id",
    // Ids are assigned when an event is written.
    orderings: { timestamp: "e.id" },
    searchIn: ["e.recipient"],
    large: true,
    nearest: (range) => all(both, range),
    ...counterFor(companyId, asked),
  };
}

const EVENTS = `
  select id, type, recipient, sent_email_id, campaign_id, metadata, created_at from email_events
  where company_id = $1 and id = any ($2::uuid[])`;

/** Results in the order of the keys. */
async function readEvents(companyId: string, keys: readonly Key[]): Promise<Row[]> {
  const ids = keys.flatMap(({ id, seq }) => (seq === null ? id : []));
  const [events, hits] = await Promise.all([
    ids.length === 0 ? [] : query<Row>(EVENTS, [companyId, ids]),
    hitsAt(
      companyId,
      keys.filter((key): key is HitKey => key.seq !== null),
    ),
  ]);
  const rows = new Map([...events, ...hits].map((row) => [row.id, row]));
  // An event removed a moment ago is missing.
  return keys.flatMap(({ id }) => rows.get(id) ?? []);
}

export async function listEvents(ctx: Ctx<ListParams>): Promise<Page<Event>> {
  const companyId = companyOf(ctx);
  const { results: keys, ...page } = await listPage<Key>(
    listing(companyId, await withInstants(companyId, ctx.params)),
    ctx.params,
  );
  const results = await readEvents(companyId, keys);
  return {
    ...page,
    results: results.map(({ id, type, recipient, sent_email_id, campaign_id, metadata, created_at }) => ({
      id,
      type,
      recipient,
      sent_email_id,
      campaign_id,
      metadata,
      timestamp: created_at.toISOString(),
    })),
  };
}
