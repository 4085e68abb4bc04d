/**
 * Computes when each recipient's local time comes in a campaign by recipients' time zones: the clock of its
 * `scheduled_for` in the zone of the subscriber's attribute `timezone`, in any case. If that is missing or not an IANA
 * name, the company's time zone applies. Part of the models because it is used for writing slices and reading start
 * times.
 *
 * The names are those of time-zones.ts.
 */
import { type Client, queryOne } from "../database/db.ts";
import { type Rules, segmentSql } from "../segment-rules/segment-sql.ts";
import type { SubscriberStatus } from "../subscriber.ts";

/** SQL: a subscriber's zone name, as in `zone_instants`. */
export const zoneOf = (subscriber: string): string => `lower(btrim(${subscriber}.attributes ->> 'timezone'))`;

/** SQL: the common table expressions that `joinDue` needs. `company`, `clock`: parameters; `clock` is a timestamptz. */
export const dueTables = (company: string, clock: string): string => `
  zones as materialized (select zone, instant from zone_instants(${clock}::timestamptz at time zone 'UTC')),
  otherwise as materialized (
    select coalesce(z.instant, ${clock}::timestamptz) as instant
    from companies o left join zones z on z.zone = lower(o.timezone) where o.id = ${company})`;

/** SQL: joins the inputs of DUE to rows with a `zone`. */
export const joinDue = (rows: string): string => `left join zones z on z.zone = ${rows}.zone cross join otherwise`;
export const DUE = "coalesce(z.instant, otherwise.instant)";

const AUDIENCE_OF_LIST = `
  select distinct ${zoneOf("s")} as zone from list_members m
  join subscribers s on s.company_id = m.company_id and s.id = m.subscriber_id
  where m.company_id = $1 and m.list_id = $4 and m.left_at is null and s.status = any($3)`;

const audienceOfSegment = (where: string) => `
  select distinct ${zoneOf("s")} as zone from subscribers s
  where s.company_id = $1 and s.status = any($3) and (${where})`;

// Uses the company's time zone if there are no recipients.
const firstOf = (audience: string) => `
  with ${dueTables("$1", "$2")}, a as materialized (${audience})
  select coalesce((select min(${DUE}) from a ${joinDue("a")}), (select instant from otherwise)) as first`;

export interface ZonedCampaign {
  id: string;
  company_id: string;
  list_id: string | null;
  segment_id: string | null;
  scheduled_for: Date;
}

/**
 * Returns when the first recipients are due, by their current zones. Reads the whole audience once: some seconds for a
 * list of a million. Undefined if the list or segment no longer exists.
 */
export async function firstInstant(
  client: Client,
  campaign: ZonedCampaign,
  statuses: readonly SubscriberStatus[],
): Promise<Date | undefined> {
  const { company_id, list_id, segment_id, scheduled_for } = campaign;
  const values = [company_id, scheduled_for, statuses];
  const first = async (audience: string, further: unknown[]) =>
    (await queryOne<{ first: Date }>(firstOf(audience), [...values, ...further], client))?.first;
  if (list_id) return first(AUDIENCE_OF_LIST, [list_id]);
  const segment = await queryOne<{ rules: Rules }>(
    "select rules from segments where company_id = $1 and id = $2",
    [company_id, segment_id],
    client,
  );
  if (!segment) return undefined;
  const { where, values: further } = segmentSql(segment.rules, company_id, 4, "joined");
  return first(audienceOfSegment(where), further);
}
