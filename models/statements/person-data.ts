/**
 * Reads everything that a company stores about a subscriber, for the person who asks. Other recipients' addresses are
 * omitted.
 */
import { exportRead } from "../database/bulk.ts";
import { query } from "../database/db.ts";
import { SENT_EMAIL_STATUSES } from "../sent-email-status.ts";
import { asEvents, HIT_AS_EVENT, HIT_LOOKUPS, type HitRow, hitsOfMails } from "./hits.ts";
import { withIds } from "./mail-key.ts";

/** Maximum rows of each kind, newest first. */
const MAX_ROWS = 10_000;

interface MailRow extends Record<string, unknown> {
  id: string;
  campaign_no: number;
  seq: number;
  status: number;
  message_id?: string;
}

const STATUS_NAMES = `(array[${SENT_EMAIL_STATUSES.map((name) => `'${name}'`).join(", ")}])`;
const NEWEST = `limit ${MAX_ROWS + 1}`;

const LISTS = `
  select l.id, l.name, m.created_at as joined_at, m.left_at
  from list_members m join lists l on l.company_id = m.company_id and l.id = m.list_id
  where m.company_id = $1 and m.subscriber_id = $2 order by m.created_at desc ${NEWEST}`;

/** Values from a public form that apply once the person confirms. */
const FORM_VALUES = `
  select nullif(form_values ->> 'first_name', '') as first_name, nullif(form_values ->> 'last_name', '') as last_name,
    form_values -> 'attributes' as attributes
  from subscribers where company_id = $1 and id = $2 and form_values is not null`;

const LIST_REQUESTS = `
  select l.id, l.name, w.asked_at
  from list_wishes w join lists l on l.company_id = w.company_id and l.id = w.list_id
  where w.company_id = $1 and w.subscriber_id = $2 order by w.asked_at desc ${NEWEST}`;

const ADDRESS_CHANGES = `
  select email, asked_at from address_changes
  where company_id = $1 and subscriber_id = $2 order by asked_at desc ${NEWEST}`;

/**
 * SQL: current and earlier addresses of the subscriber, normalized for comparison. $1: company, $2: subscriber, $3: the
 * address.
 */
const addresses = (lowered: string, key: (email: string) => string) => `any (array(
    select ${key("$3")} union select ${lowered} from former_addresses f where f.company_id = $1 and f.subscriber_id = $2))`;
const PERSON = addresses("lower(f.email)", (email) => `lower(${email})`);
const THEIR_KEYS = addresses("f.email_key", (email) => `address_key(${email})`);

const FORMER = `
  select email, changed_at from former_addresses
  where company_id = $1 and subscriber_id = $2 order by changed_at desc ${NEWEST}`;

const MAILS = `
  select e.campaign_no, e.seq, c.id as campaign_id, c.name as campaign, coalesce(e.email, $3) as recipient, e.variables,
    e.status, e.attempts, e.error, e.smtp_response, e.sent_at, e.opened_at,
    e.clicked_at, e.bounced_at, coalesce(e.opens, 0) as opens, coalesce(e.clicks, 0) as clicks,
    coalesce(c.expansion_began_at, c.created_at) as created_at
  from (
    select * from sent_emails where subscriber_id = $2
    union
    select e.* from sent_emails e where e.email is not null and lower(e.email) = lower($3)) e
  join campaigns c on c.no = e.campaign_no and c.company_id = $1
  order by c.no desc, e.seq desc ${NEWEST}`;

const COPIES = `
  select campaign_id, kind, email, ${STATUS_NAMES}[status + 1] as status, attempts, error, smtp_response, sent_at, created_at
  from sent_email_copies where company_id = $1 and lower(email) = ${PERSON}
  order by created_at desc ${NEWEST}`;

const EVENTS = `
  select id, type, recipient, campaign_id, sent_email_id, metadata, created_at as timestamp from email_events
  where company_id = $1 and lower(recipient) = ${PERSON} order by id desc ${NEWEST}`;

/** Finds hits by the subscriber's emails and by emails with the address. */
const HITS = `
  select ${HIT_AS_EVENT}
  from ${hitsOfMails(
    `(select campaign_no, seq from sent_emails where subscriber_id = $2
    union
    select campaign_no, seq from sent_emails where email is not null and lower(email) = ${PERSON}) k`,
    "$1",
  )} ${HIT_LOOKUPS}
  order by h.id desc ${NEWEST}`;

const SUPPRESSIONS = `
  select id, email, kind, reason, created_at from suppressions
  where company_id = $1 and email_key = ${THEIR_KEYS} order by id desc ${NEWEST}`;

const DELIVERIES = `
  select d.id, w.url, d.event_type, d.payload, d.status, d.attempts, d.response_status, d.created_at
  from webhook_endpoints w join webhook_deliveries d on d.company_id = $1 and d.endpoint_id = w.id
  where w.company_id = $1 and lower(d.payload->>'recipient') = ${PERSON}
  order by d.id desc ${NEWEST}`;

const INBOUND = `
  select id, received_at, via, result, bounce_type, recipient, sent_email_id, diagnostic from inbound_messages
  where company_id = $1 and lower(recipient) = ${PERSON} order by id desc ${NEWEST}`;

const KINDS = {
  lists: LISTS,
  form_values: FORM_VALUES,
  list_requests: LIST_REQUESTS,
  address_changes: ADDRESS_CHANGES,
  former_addresses: FORMER,
  sent_emails: MAILS,
  copies: COPIES,
  events: EVENTS,
  suppressions: SUPPRESSIONS,
  webhook_deliveries: DELIVERIES,
  inbound: INBOUND,
};
type Kind = keyof typeof KINDS;
type PersonRows = Record<Kind, Record<string, unknown>[]>;

/** Returns the newest rows of both tables. */
async function withHits(events: Record<string, unknown>[], hits: HitRow[]): Promise<Record<string, unknown>[]> {
  const rows = (await asEvents(hits)).map(({ created_at, machine: _, ...hit }) => ({ ...hit, timestamp: created_at }));
  const byId = (a: Record<string, unknown>, b: Record<string, unknown>) => (String(a.id) < String(b.id) ? 1 : -1);
  return [...events, ...rows].sort(byId).slice(0, MAX_ROWS + 1);
}

/** Replaces internal numbers by computed ids. */
async function readable(mails: MailRow[]): Promise<Record<string, unknown>[]> {
  await withIds(mails);
  return mails.map(({ campaign_no: _, seq: __, message_id: ___, status, ...mail }) => ({
    ...mail,
    status: SENT_EMAIL_STATUSES[status],
  }));
}

export async function personData(
  companyId: string,
  { id, email }: { id: string; email: string },
): Promise<{ rows: PersonRows; truncated: Kind[] }> {
  const rows = {} as PersonRows;
  const truncated: Kind[] = [];
  for (const kind of Object.keys(KINDS) as Kind[]) {
    const values = KINDS[kind].includes("$3") ? [companyId, id, email] : [companyId, id];
    let found = await exportRead(companyId, (client) => query(KINDS[kind], values, client));
    if (kind === "events") {
      found = await withHits(found, await exportRead(companyId, (client) => query<HitRow>(HITS, values, client)));
    }
    if (found.length > MAX_ROWS) truncated.push(kind);
    const firstRows = found.slice(0, MAX_ROWS);
    rows[kind] = kind === "sent_emails" ? await readable(firstRows as MailRow[]) : firstRows;
  }
  return { rows, truncated };
}
