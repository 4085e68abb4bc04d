/** The list of events: opens, clicks, bounces, unsubscribes, complaints. */
import { queryOne } from "../../../models/database/db.ts";
import { type Listing, listPage } from "../../../models/database/listing.ts";
import { EMAIL_EVENT_TYPES } from "../../../models/email-event.ts";
import type { ParamsOf, ReturnsOf } from "../../contracts.ts";
import { type Ctx, companyOf } from "../../lib/caller.ts";
import { firstIdAt } from "../../lib/ids.ts";

type Asked = ParamsOf<"tracking.listEvents">;
type Event = ReturnsOf<"tracking.listEvents">["results"][number];

interface Row extends Omit<Event, "timestamp"> {
  created_at: Date;
}

/** Ids carry their time, made on whatever node: the index on them narrows a period down, created_at decides. */
const CLOCK_SKEW_MS = 60_000;

const counted = (condition: string) => `(select coalesce(sum(k.n), 0) from campaigns c
  join campaign_counts k on k.company_id = c.company_id and k.campaign_id = c.id
  where c.company_id = $1 and ${condition} and k.metric = any ($2) and k.bucket = 0)`;
const OF_CAMPAIGN = `select ${counted("c.id = $3 and c.deleted_at is null")}::bigint n`;
/** Those of deleted campaigns go in the background, and are hidden until then. */
const OF_ALL = `select greatest(count_of($1, $3, $1) - ${counted("c.deleted_at is not null")}, 0)::bigint n`;
const NOT_DELETED = `(e.campaign_id is null or e.campaign_id not in (
  select id from campaigns where company_id = $1 and deleted_at is not null))`;

/** From counters, where one is kept for just this filter. */
function counterFor(companyId: string, { type, campaign, recipient, since, until }: Asked): Partial<Listing> {
  if (recipient || since || until) return {};
  const metrics = (type ? [type] : EMAIL_EVENT_TYPES.filter((name) => name !== "delivered")).flatMap((name) => [
    name,
    `${name}_machine`,
  ]);
  const of = campaign ? OF_CAMPAIGN : OF_ALL;
  const values = campaign ? [companyId, metrics, campaign] : [companyId, metrics, type ? `events:${type}` : "events"];
  return { count: async () => (await queryOne<{ n: number }>(of, values))!.n };
}

function listing(companyId: string, asked: Asked): Listing {
  const where = ["e.company_id = $1", "e.type <> 'delivered'", NOT_DELETED];
  const values: unknown[] = [companyId];
  const add = (value: unknown, condition: (parameter: string) => string) => {
    values.push(value);
    where.push(condition(`$${values.length}`));
  };
  if (asked.type) add(asked.type, (type) => `e.type = ${type}`);
  if (asked.campaign) add(asked.campaign, (campaign) => `e.campaign_id = ${campaign}`);
  if (asked.recipient) add(asked.recipient.trim(), (address) => `lower(e.recipient) = lower(${address})`);
  if (asked.since) {
    const since = new Date(asked.since);
    add(since, (time) => `e.created_at >= ${time}`);
    add(firstIdAt(since.getTime() - CLOCK_SKEW_MS), (id) => `e.id >= ${id}`);
  }
  if (asked.until) {
    const until = new Date(asked.until);
    add(until, (time) => `e.created_at < ${time}`);
    add(firstIdAt(until.getTime() + CLOCK_SKEW_MS), (id) => `e.id < ${id}`);
  }
  return {
    from: "email_events e",
    columns: "e.id, e.type, e.recipient, e.sent_email_id, e.campaign_id, e.metadata, e.created_at",
    where,
    values,
    id: "e.id",
    orderings: { timestamp: "e.created_at" },
    searchIn: ["e.recipient"],
    large: true,
    ...counterFor(companyId, asked),
  };
}

export async function listEvents(ctx: Ctx<Asked>): Promise<{ count: number; results: Event[] }> {
  const { count, results } = await listPage<Row>(listing(companyOf(ctx), ctx.params), ctx.params);
  return {
    count,
    results: results.map(({ created_at, ...event }) => ({ ...event, timestamp: created_at.toISOString() })),
  };
}
