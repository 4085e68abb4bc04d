/**
 * Records outcomes of recipients in ONE statement: renews leases, moves marks, closes chunks, writes rows, counts
 * campaigns, stores bounces and webhooks. Atomic and idempotent.
 *
 * Fences: rows of a chunk are written only while this owner holds its lease (`lease`), and only from queued; an
 * individually claimed row only while its number of tries is the claim's. The UPDATE of the chunk takes its lock, so
 * that recovery of an expired lease runs before or after, never in between.
 *
 * `result.no` null means: claimed individually.
 *
 * Hard bounces suppress their address, and so does the soft bounce that is the fifth in a row (SOFT_BOUNCES_SUPPRESS_AT);
 * classification: services/smtp-sender/delivery/outcome.ts. Later bounces: record-returns.ts.
 *
 * Copies (cc, bcc) get their rows with the result of their mail, and only if that is written. Flushes without copies
 * and bounces use a statement that does not know of them.
 */
import { sameCompany } from "../database/same-company.ts";
import { SEND_CHUNK_STATE } from "../send-chunk.ts";
import { SENT_EMAIL_STATUS } from "../sent-email-status.ts";
import { isOverGuard } from "./campaign-guard.ts";
import { variantsSent } from "./campaign-variants.ts";
import { outboxInsert } from "./webhook-outbox.ts";

const { sent, failed, bounced, queued, sending, suppressed } = SENT_EMAIL_STATUS;

/** Parameters $1 to $8. */
const LEASE = `lease as (
  update send_chunks c
  set marked_to = l.marked_to, state = case when l.done then ${SEND_CHUNK_STATE.done} else c.state end,
    lease_until = now() + $2 * interval '1 millisecond'
  from unnest($3::uuid[], $4::uuid[], $5::int[], $6::int[], $7::int[], $8::bool[])
    l (company_id, campaign_id, no, fence, marked_to, done)
  where c.campaign_id = l.campaign_id and c.no = l.no and c.company_id = l.company_id
    and c.state = ${SEND_CHUNK_STATE.leased} and c.owner = $1 and c.fence = l.fence
  returning c.company_id, c.campaign_id, c.no)`;

const RESULT = `result as (
  select * from unnest($9::int[], $10::uuid[], $11::uuid[], $12::int[], $13::int[], $14::int[], $15::int[], $16::int[],
      $17::float8[], $18::text[], $19::text[], $28::int[], $29::uuid[], $30::text[], $31::text[])
    r (n, company_id, campaign_id, no, seq, attempts, status, tried, delay_ms, error, response, campaign_no, id, email,
      message_id))`;

const WRITTEN = `written as (
  update sent_emails e
  set status = r.status, attempts = e.attempts + r.tried, error = r.error, smtp_response = r.response,
    next_attempt_at = now() + r.delay_ms * interval '1 millisecond',
    sent_at = case when r.status = ${sent} then now() else e.sent_at end,
    bounced_at = case when r.status = ${bounced} then now() else e.bounced_at end
  from result r left join lease on lease.campaign_id = r.campaign_id and lease.no = r.no
  where e.campaign_no = r.campaign_no and e.seq = r.seq
    and case when r.no is null then e.status = ${sending} and e.attempts = r.attempts
        else lease.no is not null and e.status = ${queued} and e.next_attempt_at is null end
  returning r.id, r.company_id, r.campaign_id, r.email, r.message_id, e.status, r.response as smtp_response, r.error, r.n, e.variant)`;

/**
 * Number of consecutive refusals with the same text that stop the campaign: the cause is then the server or the sender
 * and not a recipient.
 */
export const EQUAL_REFUSALS_STOP_AT = 20;
const QUOTED = `'The SMTP server gave the same refusal to ${EQUAL_REFUSALS_STOP_AT} recipients in a row: "' || l.quote
  || '". Nobody was suppressed. Check the sender address, its DNS records (SPF, DKIM, DMARC) and the account at the server.'`;
/** The stored row of equal refusals, continued by the first ones of this statement. */
const CONTINUED = "l.head_count + case when l.head_text = c.repeated_refusal then c.blocks_in_a_row else 0 end";

// Locks campaigns in the order of ids, because two senders that write for the same campaigns would otherwise deadlock,
// and after the results are written, for the reason that inAnyPart() gives.
const COUNTED = `locked as (
  select c.id, b.head_text, b.head_count, b.ended, b.tail_text, b.tail_count, b.quote,
    w.sent, w.failed, w.tried_unsent, w.bounced
  from unnest($20::uuid[], $21::uuid[], $22::text[], $23::int[], $24::bool[], $25::text[], $26::int[], $27::text[])
    b (company_id, campaign_id, head_text, head_count, ended, tail_text, tail_count, quote)
  join (select campaign_id, count(*) filter (where status = ${sent}) sent, count(*) filter (where status > ${sent}) failed,
          count(*) filter (where status > ${sent} and status <> ${suppressed}) tried_unsent,
          count(*) filter (where status = ${bounced}) bounced
        from written group by campaign_id) w on w.campaign_id = b.campaign_id
  join campaigns c on c.id = b.campaign_id and c.company_id = b.company_id
  order by c.id for no key update of c),
counted as (
  update campaigns c
  set sent_count = c.sent_count + l.sent, failed_count = c.failed_count + l.failed, updated_at = now(),
    tried_unsent = c.tried_unsent + l.tried_unsent, hard_bounces = c.hard_bounces + l.bounced,
    repeated_refusal = case when l.ended then l.tail_text else coalesce(l.head_text, c.repeated_refusal) end,
    blocks_in_a_row = case when l.ended then l.tail_count when l.head_text is null then c.blocks_in_a_row
      else ${CONTINUED} end,
    error = coalesce(c.error, case when greatest(l.tail_count, ${CONTINUED}) >= ${EQUAL_REFUSALS_STOP_AT}
      then ${QUOTED} end)
  from locked l where c.id = l.id
  returning c.id, c.company_id, c.error, ${isOverGuard("c")} as is_over_guard),
${variantsSent("written", `case when w.status = ${sent} then 1 else 0 end`)}`;

/** SQL: sender of the email w (campaign_contents). */
export const MESSAGE_ID = `'<' || w.message_id || '@' || split_part(cc.sender_email, '@', -1) || '>'`;

/** SQL: endpoint `p` is subscribed to this type of notice that goes to webhooks and is not an event. */
export const wants = (type: string, company: string): string =>
  `p.company_id = ${company} and p.disabled_at is null and ${type} = any (p.events)`;

const NOTIFIED_AS = `case w.status when ${sent} then 'delivered' when ${failed} then 'failed' end`;

// Companies without a subscription cost one probe of an empty index.
const DELIVERED = `delivered as (
  select uuid_v7() as id, w.company_id, ${NOTIFIED_AS} as type, w.email as recipient, w.id as sent_email_id, w.campaign_id,
    jsonb_build_object('smtp_response', w.smtp_response, 'message_id', ${MESSAGE_ID})
      || case when w.status = ${failed} then jsonb_build_object('error', w.error) else '{}' end as metadata,
    now() as created_at
  from written w
  join campaign_contents cc on cc.campaign_id = w.campaign_id and cc.company_id = w.company_id
  where w.status in (${sent}, ${failed}) and exists (select from webhook_endpoints p where ${wants(NOTIFIED_AS, "w.company_id")}))`;

/** Parameter after those common to all forms of the statement: bounces, or copies. */
const NEXT = 32;

/**
 * This many soft bounces in a row (soft_bounces_in_a_row) count as a hard bounce, over any period. The subscriber's row
 * has the number, because events expire. A delivery does not update it: deliveries are looked up when the number is
 * needed.
 */
export const SOFT_BOUNCES_SUPPRESS_AT = 5;

/** $param: bounces of emails in `written`, by its `n`. `suppresses`: the address is treated as dead. */
const bouncesWritten = (param: number) => `bounce as (
  select c.*, c.kind = 'hard' or coalesce(c.in_a_row >= ${SOFT_BOUNCES_SUPPRESS_AT}, false) as suppresses
  from (
    select w.*, b.metadata, b.reason, b.kind, case b.kind when 'soft' then soft_bounces_in_a_row(w.company_id, w.email)
      + row_number() over (partition by w.company_id, address_key(w.email), b.kind) end as in_a_row
    from json_to_recordset($${param}::json) b (n int, metadata jsonb, reason text, kind text) join written w on w.n = b.n) c),
bounced as (
  insert into email_events (company_id, campaign_id, sent_email_id, type, recipient, metadata)
  select company_id, campaign_id, id, 'bounced', email, metadata from bounce
  returning *),
suppressed as (
  insert into suppressions (company_id, email, kind, reason)
  select distinct on (company_id, address_key(email)) company_id, email, 'bounced', reason from bounce where suppresses
  on conflict (company_id, email_key) where email_key is not null
  do update set kind = 'bounced', reason = excluded.reason where suppressions.kind = 'unsubscribed'),
gone as (
  update subscribers s set
    status = case when b.suppresses and s.status <> 'complained' then 'bounced' else s.status end,
    updated_at = case when b.suppresses then now() else s.updated_at end,
    soft_bounces = coalesce(b.in_a_row, s.soft_bounces),
    soft_bounced_at = case when b.in_a_row is null then s.soft_bounced_at else now() end
  from (
    select company_id, address_key(email) as email_key, bool_or(suppresses) as suppresses, max(in_a_row) as in_a_row
    from bounce where suppresses or in_a_row is not null group by 1, 2) b
  where s.company_id = b.company_id and s.email_key = b.email_key
    and (b.in_a_row is not null or s.status not in ('bounced', 'complained')))`;

const COPY_RESULT_TYPES = ["uuid", "uuid", "int", "int", "int", "int", "int", "float8", "text", "text"];

/** $param: copies of emails in `result`, by its `n`. */
export const newCopies = (param: number) => `copies as (
  insert into sent_email_copies (company_id, campaign_id, seq, no, email, kind, status, attempts, next_attempt_at, error,
    smtp_response, sent_at)
  select w.company_id, w.campaign_id, r.seq, c.no, c.email, c.kind, c.status, c.attempts,
    now() + c.delay_ms * interval '1 millisecond', c.error, c.response, case when c.status = ${sent} then now() end
  from json_to_recordset($${param}::json)
    c (n int, no int, email text, kind text, status int, attempts int, delay_ms float8, error text, response text)
  join written w on w.n = c.n join result r on r.n = c.n
  on conflict (campaign_id, seq, no) do nothing)`;

/**
 * $first and the next ones: results of individually claimed copies, in columns: for a JSON list the planner expects so
 * many rows that it would read the whole table. `claimed`: condition for row c to get its result r.
 */
export const copiesWritten = (first: number, claimed: string) => `copy_written as (
  update sent_email_copies c
  set status = r.status, attempts = c.attempts + r.tried, error = r.error, smtp_response = r.response,
    next_attempt_at = now() + r.delay_ms * interval '1 millisecond',
    sent_at = case when r.status = ${sent} then now() else c.sent_at end
  from unnest(${COPY_RESULT_TYPES.map((type, n) => `$${first + n}::${type}[]`).join(", ")})
    r (company_id, campaign_id, seq, no, attempts, status, tried, delay_ms, error, response)
  where c.campaign_id = r.campaign_id and c.seq = r.seq and c.no = r.no
    and ${sameCompany("c.company_id", "r.company_id")} and c.attempts = r.attempts and ${claimed}
  returning c.seq)`;

/** Not "=": the planner must not use the index of leased chunks. */
const LEASED_COPY = `c.status is not distinct from ${sending}`;
const copies = (first: number) => `${newCopies(first)},\n${copiesWritten(first + 1, LEASED_COPY)}`;

const LEASES = "(select json_agg(json_build_array(campaign_id, no)) from lease)";
const STOPPED = "(select json_agg(json_build_array(id, error)) from counted where error is not null)";
const OVER_GUARD = "(select json_agg(json_build_array(company_id, id)) from counted where is_over_guard)";

/** `written`: number of results written, including copies; the others were fenced off. */
const answer = (webhooks: string, written = "(select count(*) from written)") => `select
  ${LEASES} as leases, ${STOPPED} as stopped, ${OVER_GUARD} as over_guard,
  ${webhooks} as webhook_company_ids, ${written}::int as written`;
const WITH_COPIES = "((select count(*) from written) + (select count(*) from copy_written))";

export const QUEUED_WEBHOOKS = "(select json_agg(distinct company_id) from outbox)";
const outbox = (source: string) => `outbox as (${outboxInsert(source)})`;

/** Writes leases and marks if there are no results. */
export const RECORD_LEASES = `with ${LEASE}
select ${LEASES} as leases, null as stopped, null as over_guard, null as webhook_company_ids, 0 as written`;

/** Writes results without bounces and copies, the usual case. */
export const RECORD = `with ${[LEASE, RESULT, WRITTEN, COUNTED, DELIVERED, outbox("delivered")].join(",\n")}\n${answer(QUEUED_WEBHOOKS)}`;

/** Writes only rows and campaigns, for a result that PostgreSQL refuses together with its events and webhooks. */
export const RECORD_ROW_ONLY = `with ${[LEASE, RESULT, WRITTEN, COUNTED, copies(NEXT)].join(",\n")}\n${answer("null", WITH_COPIES)}`;

/** Bounces are in $param; `event` contains the data for webhooks. */
export const eventsOf = (param: number): string[] => [
  DELIVERED,
  bouncesWritten(param),
  `event as (
    select * from delivered
    union all
    select id, company_id, type, recipient, sent_email_id, campaign_id, metadata, created_at from bounced)`,
  outbox("event"),
];

/** Writes results with bounces, copies, or both. */
export const RECORD_ALL = `with ${[LEASE, RESULT, WRITTEN, COUNTED, ...eventsOf(NEXT), copies(NEXT + 1)].join(",\n")}\n${answer(QUEUED_WEBHOOKS, WITH_COPIES)}`;
