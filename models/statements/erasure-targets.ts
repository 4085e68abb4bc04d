/**
 * Lists every table that may contain a person's address, with statements that erase it from one company in bounded
 * steps. Rows about the person are deleted or emptied; in other rows that merely quote the address it becomes
 * `[erased]`. The company's own texts (templates, names of lists) are not searched.
 *
 * | kept | why |
 * |---|---|
 * | the email's row: status and times, `email = ''` | every recipient of a campaign stays accounted for; it is never sent, and no hit, unsubscribe or bounce is recorded for it |
 * | the campaign's counts, events included | numbers do not change afterwards; the events themselves are deleted |
 * | who did what and when in the audit log | the target is `[erased]` |
 * | a keyed hash of the address (erased_addresses) | the address is refused until the person subscribes again (erased-addresses.ts); the address itself is kept sealed until the work is done |
 *
 * User agents of other people are stored without addresses (withoutAddresses).
 *
 * Everything else is deleted: subscriber, lists, events, suppressions, copies, receivers, webhook deliveries, inbound
 * messages, invitations.
 *
 * A new table that may contain an address must be added here; test/integration/subscribers/erase.test.ts searches all
 * columns of all tables.
 */

import { HITS, SKIP_COUNTING } from "./erase-hits.ts";
import {
  anyQuotes,
  type ErasureTarget,
  emptied,
  FIRST_UUID,
  inMailSteps,
  inSteps,
  jsonb,
  quotedIn,
  SCAN_SIZE,
  text,
  unaddressed,
  WRITTEN,
  walk,
  walkWithin,
  without,
} from "./erase-steps.ts";

/** Campaigns whose recipients were given in the request: only they have variables and copies. */
const OF_REQUESTS = "o.campaign_type <> 'to_list'";
const OF_LISTS = "o.campaign_type = 'to_list'";
/** Contents scanned per step: each may have a hundred kilobytes. */
const CONTENTS = 500;

/** Targets other people's emails that quote the address, in campaigns `o`. */
const mailsThatQuote = (campaigns: string, where = "true"): ErasureTarget => ({
  counted: "quotations",
  ...walkWithin({
    owners: { table: "campaigns", key: "no", type: "int", where: campaigns },
    rows: {
      table: "sent_emails",
      owner: "campaign_no",
      key: "seq",
      type: "int",
      where,
      columns: `coalesce(r.cc, '{}') || coalesce(r.bcc, '{}') as copies,
        ${anyQuotes("r.variables::text", "r.error", "r.smtp_response")} as quoted`,
    },
    parts: [
      `changed as (
        update sent_emails e
        set cc = ${unaddressed("e.cc")}, bcc = ${unaddressed("e.bcc")}, variables = ${without("e.variables::text")}::jsonb,
          error = ${without("e.error")}, smtp_response = ${without("e.smtp_response")}
        from page p
        where e.campaign_no = p.owner and e.seq = p.key
          and (p.quoted or exists (select from unnest(p.copies) a where lower(a) = any ($2)))
        returning 1)`,
    ],
    changed: "changed",
  }),
});

const MAILS: ErasureTarget[] = [
  {
    counted: "sent_emails",
    before: SKIP_COUNTING,
    sql: inMailSteps([
      `found as (select e.campaign_no, e.seq from subscribers p join sent_emails e on e.subscriber_id = p.id
          where p.company_id = $1 and p.email_key = any ($2) limit ${WRITTEN})`,
      emptied("found"),
    ]),
  },
  {
    counted: "sent_emails",
    before: SKIP_COUNTING,
    sql: inMailSteps([
      `found as (
          select e.campaign_no, e.seq from sent_emails e join campaigns c on c.no = e.campaign_no and c.company_id = $1
          where e.email is not null and lower(e.email) = any ($2) limit ${WRITTEN})`,
      emptied("found"),
    ]),
  },
  {
    // Also erases replies to emails that were being delivered during the first pass.
    counted: "quotations",
    sql: inSteps(
      [
        `found as (
          select e.campaign_no, e.seq from sent_emails e join campaigns c on c.no = e.campaign_no and c.company_id = $1
          where e.email is not null and lower(e.email) = '' and ${anyQuotes("e.error", "e.smtp_response")}
          limit ${WRITTEN})`,
        emptied("found"),
      ],
      "emptied",
    ),
  },
  {
    counted: "copies",
    sql: inSteps(
      [
        `found as materialized (select campaign_id, seq, no from sent_email_copies
          where company_id = $1 and lower(email) = any ($2) limit ${WRITTEN})`,
        `gone as (delete from sent_email_copies c using found f
          where c.company_id = $1 and c.campaign_id = f.campaign_id and c.seq = f.seq and c.no = f.no
          returning c.campaign_id, c.seq)`,
        `mails as (update sent_emails e set cc = ${unaddressed("e.cc")}, bcc = ${unaddressed("e.bcc")}
          from gone g join campaigns c on c.company_id = $1 and c.id = g.campaign_id
          where e.campaign_no = c.no and e.seq = g.seq)`,
      ],
      "gone",
    ),
  },
  // Unsent copies, and others' variables and diagnostics.
  mailsThatQuote(OF_REQUESTS),
  // Recipients of a list have neither variables nor copies: only replies of servers that refused the email may quote.
  mailsThatQuote(OF_LISTS, "r.error is not null"),
];

const RECEIVERS: ErasureTarget[] = [
  {
    counted: "receivers",
    ...walkWithin({
      owners: { table: "campaigns", key: "id", type: "uuid", where: OF_REQUESTS },
      rows: {
        table: "campaign_receivers",
        owner: "campaign_id",
        key: "no",
        type: "int",
        where: "r.company_id = $1",
        columns: `lower(r.email) = any ($2) as theirs, ${anyQuotes("r.variables::text")}
          or exists (select from unnest(coalesce(r.cc, '{}') || coalesce(r.bcc, '{}')) a where lower(a) = any ($2)) as quoted`,
      },
      parts: [
        `gone as (delete from campaign_receivers r using page p
          where p.theirs and r.company_id = $1 and r.campaign_id = p.owner and r.no = p.key returning 1)`,
        `changed as (
          update campaign_receivers r
          set cc = ${unaddressed("r.cc")}, bcc = ${unaddressed("r.bcc")}, variables = ${without("r.variables::text")}::jsonb
          from page p
          where p.quoted and not p.theirs and r.company_id = $1 and r.campaign_id = p.owner and r.no = p.key returning 1)`,
        "touched as (select from gone union all select from changed)",
      ],
      changed: "touched",
    }),
  },
];

const EVENTS: ErasureTarget[] = [
  {
    counted: "events",
    before: SKIP_COUNTING,
    sql: inSteps(
      [
        `gone as (delete from email_events where company_id = $1 and id in (
          select id from email_events where company_id = $1 and lower(recipient) = any ($2) limit ${WRITTEN}) returning 1)`,
      ],
      "gone",
    ),
  },
  {
    counted: "webhook_deliveries",
    ...walkWithin({
      owners: { table: "webhook_endpoints", key: "id", type: "uuid" },
      rows: {
        table: "webhook_deliveries",
        owner: "endpoint_id",
        key: "id",
        type: "uuid",
        where: "r.company_id = $1",
        columns: `${anyQuotes("r.payload::text", "r.last_error")} as quoted`,
      },
      parts: [
        `gone as (delete from webhook_deliveries d using page p where p.quoted and d.company_id = $1 and d.id = p.key
          returning 1)`,
      ],
      changed: "gone",
    }),
  },
];

/** Inbound messages about the person: the raw message is deleted as a whole, even if it reports others. */
const INBOUND: ErasureTarget[] = [
  {
    counted: "inbound",
    sql: inSteps(
      [
        `gone as (
          delete from inbound_messages where company_id = $1 and id in (
            select id from inbound_messages where company_id = $1 and lower(recipient) = any ($2) limit ${WRITTEN})
          returning raw_id)`,
        "raws as (delete from inbound_raws r using gone g where r.company_id = $1 and r.id = g.raw_id returning 1)",
      ],
      "gone",
    ),
  },
  quotedIn({ counted: "inbound", table: "inbound_messages", texts: ["x.diagnostic"], sets: text("diagnostic") }),
  {
    counted: "inbound",
    first: FIRST_UUID,
    // Plain address in a message; encoded ones are found through the message's rows.
    sql: walk(
      [
        `page as materialized (
          select id, exists (select from unnest($2::text[]) a where position(a in lower(encode(raw, 'escape'))) > 0) as quoted
          from inbound_raws where company_id = $1 and id > $3::uuid order by id limit ${SCAN_SIZE / 50})`,
        "gone as (delete from inbound_raws r using page p where p.quoted and r.company_id = $1 and r.id = p.id returning 1)",
      ],
      "gone",
      "id::text",
      "id",
    ).replace(`>= ${SCAN_SIZE}`, `>= ${SCAN_SIZE / 50}`),
  },
];

const PERSON: ErasureTarget[] = [
  {
    counted: "quotations",
    sql: inSteps(
      [
        "wanted as (delete from address_changes where company_id = $1 and email_key = any ($2) returning 1)",
        "former as (delete from former_addresses where company_id = $1 and email_key = any ($2) returning 1)",
        "few as (select from wanted union all select from former)",
      ],
      "few",
    ),
  },
  {
    counted: "suppressions",
    sql: inSteps(
      ["gone as (delete from suppressions where company_id = $1 and email_key = any ($2) returning 1)"],
      "gone",
    ),
  },
  {
    counted: "lists",
    sql: inSteps(
      [
        `gone as (delete from list_members m using subscribers p
          where p.company_id = $1 and p.email_key = any ($2) and m.company_id = $1 and m.subscriber_id = p.id returning 1)`,
      ],
      "gone",
    ),
  },
  {
    counted: "subscribers",
    // A concurrent expansion has either written its rows when this lock is acquired, or reads the subscriber
    // afterwards.
    before: "select lock_addresses($1)",
    sql: inSteps(
      [
        `found as (select e.campaign_no, e.seq from subscribers p join sent_emails e on e.subscriber_id = p.id
          where p.company_id = $1 and p.email_key = any ($2))`,
        emptied("found"),
        "gone as (delete from subscribers where company_id = $1 and email_key = any ($2) returning 1)",
      ],
      "gone",
    ),
  },
  {
    counted: "invitations",
    sql: inSteps(
      [
        `gone as (delete from invitations where company_id = $1 and email_key = any ($2)
          and (accepted_at is not null or withdrawn_at is not null or expires_at < now()) returning id)`,
        `mails as (delete from system_mails where kind = 'invitation' and data->>'invitationId' in (select id::text from gone))`,
      ],
      "gone",
    ),
  },
];

/** Deletes receivers of a draft that are the person, with everything written about them. */
const OTHER_RECEIVERS = `case when jsonb_typeof(x.body->'receivers') = 'array' then jsonb_set(x.body, '{receivers}', coalesce((
    select jsonb_agg(r.one order by r.no) from jsonb_array_elements(x.body->'receivers') with ordinality r (one, no)
    where coalesce(lower(trim(r.one->>'email')) <> all ($2), true)), '[]')) else x.body end`;

/** Parts of files scanned per step: each has a megabyte. */
const FILE_PARTS = 16;
/**
 * Decodes a part of a file in any charset, with the start of the next part: non-ASCII bytes are escaped, and UTF-16
 * reads as ASCII without its zero bytes.
 */
const FILE_TEXT = String.raw`replace(encode(p.data || coalesce(substr(f.data, 1, 600), ''), 'escape'), '\000', '')`;

const QUOTED: ErasureTarget[] = [
  quotedIn({
    counted: "quotations",
    table: "subscribers",
    texts: ["x.first_name", "x.last_name", "x.attributes::text"],
    sets: `${text("first_name")}, ${text("last_name")}, ${jsonb("attributes")}`,
  }),
  quotedIn({ counted: "quotations", table: "import_errors", texts: ["x.lines"], sets: text("lines") }),
  quotedIn({
    counted: "quotations",
    table: "drafts",
    texts: ["x.name", "x.body::text"],
    sets: `${text("name")}, body = ${without(`(${OTHER_RECEIVERS})::text`)}::jsonb`,
  }),
  quotedIn({
    counted: "quotations",
    table: "imports",
    texts: ["x.report::text", "x.form::text"],
    sets: `${jsonb("report")}, ${jsonb("form")}`,
  }),
  {
    // A file waiting for its import is deleted: uploaded again, it is imported without the person. A running import has
    // ended by the second pass.
    counted: "quotations",
    first: `${FIRST_UUID} -1`,
    sql: walk(
      [
        `page as materialized (
          select p.import_id, p.no, ${anyQuotes(FILE_TEXT)} as quoted
          from imports i join import_parts p on p.company_id = $1 and p.import_id = i.id
            left join import_parts f on f.company_id = $1 and f.import_id = i.id and f.no = p.no + 1
          where i.company_id = $1 and i.held and i.status <> 'running'
            and (p.import_id, p.no) > (split_part($3, ' ', 1)::uuid, split_part($3, ' ', 2)::int)
          order by p.import_id, p.no limit ${FILE_PARTS})`,
        `gone as (delete from imports i using (select distinct import_id from page where quoted) q
          where i.company_id = $1 and i.id = q.import_id and i.status <> 'running' returning 1)`,
      ],
      "gone",
      "import_id || ' ' || no",
      "import_id desc, no",
      FILE_PARTS,
    ),
  },
  {
    // Deletes idempotency keys that contain the address, also after a prefix: a repeated request then sends to nobody.
    counted: "idempotency_keys",
    first: "",
    sql: walk(
      [
        `page as materialized (select key, exists (select from unnest($2) a where strpos(lower(key), a) > 0) as named, ${anyQuotes("response::text")} as quoted
          from idempotency_keys where company_id = $1 and (company_id, key) > ($1, $3) order by company_id, key limit ${SCAN_SIZE})`,
        "gone as (delete from idempotency_keys k using page p where p.named and k.company_id = $1 and k.key = p.key returning 1)",
        `changed as (update idempotency_keys x set ${jsonb("response", "json")} from page p
          where p.quoted and not p.named and x.company_id = $1 and x.key = p.key returning 1)`,
        "touched as (select from gone union all select from changed)",
      ],
      "touched",
      "key",
      "key",
    ),
  },
  quotedIn({
    counted: "audit_log",
    table: "audit_log",
    texts: ["x.target", "x.detail::text"],
    sets: `${text("target")}, ${jsonb("detail")}`,
    before: "select set_config('flockmail.audit_log', 'erase', true), $1::uuid",
  }),
  quotedIn({
    counted: "quotations",
    table: "campaigns",
    texts: ["x.name", "x.error", "x.repeated_refusal"],
    sets: `${text("name")}, ${text("error")}, ${text("repeated_refusal")}`,
  }),
  {
    // An email written for this person alone contains more personal data than the address.
    counted: "quotations",
    first: FIRST_UUID,
    sql: walk(
      [
        `page as materialized (
          select c.id, c.campaign_type = 'custom' and c.next_seq = 2 and exists (
            select from sent_emails e where e.campaign_no = c.no and e.seq = 1 and e.email = '') as theirs,
            ${anyQuotes("t.subject", "t.body", "t.preheader", "t.text_body", "t.design::text", "t.design_text", "t.further::text", "t.utm::text")} as quoted
          from campaigns c join campaign_contents t on t.company_id = $1 and t.campaign_id = c.id
          where c.company_id = $1 and (c.company_id, c.id) > ($1, $3::uuid) order by c.company_id, c.id limit ${CONTENTS})`,
        `changed as (
          update campaign_contents t
          set subject = case when p.theirs then '' else ${without("t.subject")} end,
            body = case when p.theirs then '' else ${without("t.body")} end,
            preheader = case when not p.theirs then ${without("t.preheader")} end,
            text_body = case when not p.theirs then ${without("t.text_body")} end,
            design = case when not p.theirs then ${without("t.design::text")}::jsonb end,
            design_text = case when not p.theirs then ${without("t.design_text")} end,
            links = case when p.theirs then '{}' else t.links end,
            further = case when not p.theirs then ${without("t.further::text")}::jsonb end,
            utm = case when not p.theirs then ${without("t.utm::text")}::jsonb end
          from page p
          where t.company_id = $1 and t.campaign_id = p.id and (p.quoted or p.theirs and (t.subject <> '' or t.body <> '' or t.further is not null))
          returning 1)`,
      ],
      "changed",
      "id::text",
      "id",
      CONTENTS,
    ),
  },
  {
    // Needs no slices: a company has few of these.
    counted: "quotations",
    sql: inSteps(
      [
        `servers as (update smtp_configs x set ${text("last_error")} where company_id = $1 and ${anyQuotes("x.last_error")} returning 1)`,
        `variants as (update campaign_variants x set ${text("subject")}, ${jsonb("content")}
          where company_id = $1 and ${anyQuotes("x.subject", "x.content::text")} returning 1)`,
        `segment as (update segments x set ${jsonb("rules")} where company_id = $1 and ${anyQuotes("x.rules::text")} returning 1)`,
        // Changes only notices that were sent; a waiting one has information that its owner needs.
        `notices as (update system_mails x set ${jsonb("data")}
          where x.next_attempt_at is null and ${anyQuotes("x.data::text")} and exists (
            select from memberships m join users u on u.id = m.user_id
            where m.company_id = $1 and u.email_key = lower(x.recipient)) returning 1)`,
        "few as (select from servers union all select from variants union all select from segment union all select from notices)",
      ],
      "few",
    ),
  },
];

/** Order matters: the emails are found through the subscriber. */
export const ERASURE_TARGETS: readonly ErasureTarget[] = [
  ...HITS,
  ...MAILS,
  ...RECEIVERS,
  ...EVENTS,
  ...INBOUND,
  ...PERSON,
  ...QUOTED,
];
