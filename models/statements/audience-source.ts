/**
 * Sources of a campaign's recipients: members of a list, people of a segment, receivers of a request. Each is read by
 * keyset in slices (write-audience-slice.ts).
 */
import { subscriberAt, subscriberOf } from "../database/row-at.ts";
import { zoneOf } from "./recipient-zones.ts";

/** Parts of the statement that depend on the type of audience. */
export interface Source {
  /** The next rows after the cursor ($3), $4 of them at most; `at` is the cursor's value. */
  taken: string;
  /** The people of `taken`, with any subscriber status. The cursor's next value is the `at` of `last`. */
  person: string;
  /**
   * True for recipients given in a request: each has an address, variables and copies, and gets a row with the reason
   * if it is excluded.
   */
  areNamed: boolean;
  /** Number of emails of person p. Only inline receivers have copies. */
  mails: "1" | "1 + copies_of(p.cc, p.bcc)";
}

const subscriber = (alias: string) =>
  `${alias}.id as subscriber_id, ${alias}.email, ${alias}.email_key, ${alias}.status`;
const withZone = (alias: string) => `${subscriber(alias)}, ${zoneOf(alias)} as zone`;

/** Maximum subscribers per wanted member for reading side by side; beyond this, individual look-ups cost the same. */
const DENSE = 4;

/**
 * Reads the subscribers of `taken`. If many of them are members they are read side by side with the list, which is much
 * faster than individual look-ups. The number of subscribers between the cursor and the end of the slice is counted
 * first, so that no slice reads more than a few per member: a list may contain everybody of one year, and few of
 * another.
 *
 * Order and limit keep the planner on the index of exactly these two columns, and coalesce() prevents IN from becoming
 * a join planned for one row.
 */
const subscribersOfTaken = (columns: (alias: string) => string) => {
  const between = `select * from subscribers
      where company_id = $1 and id > $3::uuid and id <= (select l.at from last l) order by id limit ${DENSE} * $4`;
  return `with near as materialized (select count(*) < ${DENSE} * $4 as is_dense from (${between}) b)
    select r.id as at, ${columns("r")} from (${between}) r
      where (select n.is_dense from near n) and coalesce(r.id in (select t.at from taken t where t.left_at is null), false)
    union all
    select t.at, s.* from taken t, lateral (${subscriberAt("$1", "t.at", columns("r"))}) s
      where not (select n.is_dense from near n) and t.left_at is null`;
};

/**
 * Settings of a list slice's transaction: while a grown table is not analysed, the planner would rather read all of it
 * than part of its index.
 */
export const BY_INDEX = "set local enable_seqscan = off";

/**
 * Compares the whole key at both ends: with `list_id = $8` or `company_id = $1` the scan starts at the first member
 * regardless of the next column. Ordered by the subscriber alone, the planner may scan the index of list_members by
 * subscriber, which contains all other lists, too.
 */
const listMembers = (columns: (alias: string) => string): Source => ({
  taken: `select m.subscriber_id as at, m.left_at from list_members m
    where (m.company_id, m.list_id, m.subscriber_id) > ($1, $8, $3::uuid) and (m.company_id, m.list_id) <= ($1, $8)
    order by m.company_id, m.list_id, m.subscriber_id limit $4`,
  person: subscribersOfTaken(columns),
  areNamed: false,
  mails: "1",
});
export const ofList = listMembers(subscriber);
export const ofListByZone = listMembers(withZone);

const segment = (where: string, columns: (alias: string) => string): Source => ({
  taken: `select s.*, s.id as at from subscribers s
    where s.company_id = $1 and s.id > $3::uuid and (s.company_id, s.id) > ($1, $3::uuid) order by s.id limit $4`,
  person: `select s.at, ${columns("s")} from taken s where ${where}`,
  areNamed: false,
  mails: "1",
});
export const ofSegment = (where: string): Source => segment(where, subscriber);
export const ofSegmentByZone = (where: string): Source => segment(where, withZone);

export const ofReceivers: Source = {
  taken: `select r.no as at, r.* from campaign_receivers r
    where r.company_id = $1 and r.campaign_id = $2 and r.no > $3::int order by r.no limit $4`,
  person: `select t.at, s.id as subscriber_id, t.email, case when s.email is distinct from t.email then t.email end as own_email,
      address_key(t.email) as email_key, t.cc, t.bcc, t.variables, s.status
    from taken t left join lateral (${subscriberOf("$1", "address_key(t.email)", "r.id, r.email, r.status")}) s on true`,
  areNamed: true,
  mails: "1 + copies_of(p.cc, p.bcc)",
};
