/**
 * One slice of a campaign's audience becomes rows of sent_emails, in one statement: who comes next by keyset, who of
 * them may get mail, numbered without gaps.
 *
 * Who may: active subscribers who have not left the list. Transactional mail also reaches unsubscribed ones, and an
 * inline receiver who has not confirmed a newsletter yet; nobody whose address bounced. Then the suppressions: by
 * address, and by domain with the domains above it, looked up once per distinct domain of the slice instead of once
 * per recipient.
 *
 * A list member that a filter leaves out still moves the cursor, so that a slice reads a bounded number of rows.
 */
import { type Client, queryOne } from "../../models/db.ts";
import type { Rules } from "../subscribers/segment.ts";
import { segmentSql } from "../subscribers/segment.ts";
import type { Expanding } from "./expand.ts";

export interface Slice {
  /** Members or receivers looked at; fewer than asked for means that the audience is through. */
  taken: number;
  /** Rows written. */
  kept: number;
  cursor: string | null;
}

const FIRST_UUID = "00000000-0000-0000-0000-000000000000";

/**
 * `taken` and `person` are the audience's own part: `taken` reads the next rows after the cursor ($3) up to $4 with
 * the columns `at` (the cursor's value), and `person` those of them that may get mail by their status ($5).
 */
const sliceSql = (taken: string, person: string) => `
  with taken as materialized (${taken}),
  person as materialized (${person}),
  domains as (
    select distinct split_part(email_key, '@', -1) as domain from person
    where exists (select from suppressions where company_id = $1 and domain is not null)
  ),
  blocked_domains as materialized (
    select d.domain from domains d
    where exists (
      select from generate_series(1, cardinality(string_to_array(d.domain, '.'))) i
      join suppressions x
        on x.company_id = $1 and x.domain = array_to_string((string_to_array(d.domain, '.'))[i:], '.')
      where x.kind <> 'unsubscribed' or not $6)
  ),
  kept as (
    select p.*, row_number() over (order by p.at) as n from person p
    where not exists (
        select from suppressions x
        where x.company_id = $1 and x.email_key = p.email_key and (x.kind <> 'unsubscribed' or not $6))
      and not exists (select from blocked_domains b where b.domain = split_part(p.email_key, '@', -1))
  ),
  added as (
    insert into sent_emails (company_id, campaign_id, seq, subscriber_id, email, cc, bcc, variables)
    select $1, $2, $7 - 1 + n, subscriber_id, email, cc, bcc, variables from kept
    returning 1
  )
  select (select count(*) from taken) as taken, (select count(*) from added) as kept,
    (select t.at::text from taken t order by t.at desc limit 1) as cursor`;

const SUBSCRIBER =
  "s.id as subscriber_id, s.email, s.email_key, null::text[] as cc, null::text[] as bcc, null::jsonb as variables";

// 1,000,000 members in slices of 20,000 take 9.9 s on two busy cores, 0.18 s a slice at the beginning and 0.22 s at the
// end: two thirds are the insert with its four indexes. Two traps, both measured at a million: without `lateral … limit 1`
// the planner hashes all subscribers for each slice (17 s), and without the comparison of rows it may walk the index of
// list_members by subscriber, which holds every other list, too.
const listSlice = sliceSql(
  `select m.subscriber_id as at, m.left_at from list_members m
   where m.company_id = $1 and m.list_id = $8 and (m.list_id, m.subscriber_id) > ($8, $3::uuid)
   order by m.subscriber_id limit $4`,
  `select t.at, s.* from taken t,
     lateral (select ${SUBSCRIBER} from subscribers s
       where s.company_id = $1 and s.id = t.at and s.status = any($5) limit 1) s
   where t.left_at is null`,
);

const segmentSlice = (where: string) =>
  sliceSql(
    `select s.*, s.id as at from subscribers s where s.company_id = $1 and s.id > $3::uuid order by s.id limit $4`,
    `select s.at, ${SUBSCRIBER} from taken s where s.status = any($5) and (${where})`,
  );

const receiverSlice = sliceSql(
  `select r.no as at, r.* from campaign_receivers r
   where r.company_id = $1 and r.campaign_id = $2 and r.no > $3::int order by r.no limit $4`,
  `select t.at, s.id as subscriber_id, t.email, lower(t.email) as email_key, t.cc, t.bcc, t.variables
   from taken t left join subscribers s on s.company_id = $1 and s.email_key = lower(t.email)
   where s.id is null or s.status = any($5)`,
);

function reachable(campaign: Expanding): string[] {
  if (!campaign.is_transactional) return ["active"];
  return campaign.campaign_type === "to_list" ? ["active", "unsubscribed"] : ["active", "unsubscribed", "unconfirmed"];
}

async function take(client: Client, sql: string, campaign: Expanding, limit: number, first: string, rest: unknown[]) {
  const { company_id, id, expand_cursor, is_transactional, next_seq } = campaign;
  const values = [company_id, id, expand_cursor ?? first, limit, reachable(campaign), is_transactional, next_seq];
  return (await queryOne<Slice>(sql, [...values, ...rest], client))!;
}

export const takeReceivers = (client: Client, campaign: Expanding, limit: number): Promise<Slice> =>
  take(client, receiverSlice, campaign, limit, "0", []);

/** Undefined where the list or segment is gone. */
export async function takeMembers(client: Client, campaign: Expanding, limit: number): Promise<Slice | undefined> {
  const { company_id, list_id, segment_id } = campaign;
  if (list_id) {
    const found = await queryOne(
      "select id from lists where company_id = $1 and id = $2",
      [company_id, list_id],
      client,
    );
    return found && take(client, listSlice, campaign, limit, FIRST_UUID, [list_id]);
  }
  const segment = await queryOne<{ rules: Rules }>(
    "select rules from segments where company_id = $1 and id = $2",
    [company_id, segment_id],
    client,
  );
  if (!segment) return undefined;
  const { where, values } = segmentSql(segment.rules, company_id, 8);
  return take(client, segmentSlice(where), campaign, limit, FIRST_UUID, values);
}
