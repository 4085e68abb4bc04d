/**
 * One recipient's history, in order of time: who knows the address, what was sent, what the mail server said, what the
 * reader did, what blocks. A recipient who got nothing has one too: not confirmed, say, or a whole domain suppressed.
 */
import { query } from "../../models/database/db.ts";
import { SENT_EMAIL_STATUSES } from "../../models/sent-email-status.ts";
import { mailOf, withIds } from "../../models/statements/mail-key.ts";
import type { ReturnsOf } from "../contracts.ts";
import { isUuid } from "../lib/ids.ts";

const MAX_ROWS = 50;

type History = ReturnsOf<"operator.why">;

interface Mail {
  id: string;
  campaign_no: number;
  seq: number;
  company: string;
  email: string;
  campaign: string;
  status: number;
  attempts: number;
  error: string | null;
  smtp_response: string | null;
  next_attempt_at: Date | null;
  created_at: Date;
  sent_at: Date | null;
}

const COLUMNS = `s.id, s.campaign_no, s.seq, co.name company, coalesce(s.email, p.email) email, c.name campaign, s.status,
  s.attempts, s.error, reply_text(r.pattern, s.smtp_response) smtp_response, s.next_attempt_at,
  coalesce(s.created_at, c.expansion_began_at) created_at, s.sent_at`;
const REPLY = "left join reply_patterns r on r.company_id = c.company_id and r.no = s.reply_no";
const NEWEST = `order by s.campaign_no desc, s.seq desc limit ${MAX_ROWS}`;

// Company by company, so that each look-up is one of an index.
const BY_ADDRESS = `
  select s.* from companies co cross join lateral (
    (select ${COLUMNS} from subscribers p join sent_emails s on s.subscriber_id = p.id
       join campaigns c on c.no = s.campaign_no and c.company_id = co.id ${REPLY}
     where p.company_id = co.id and p.email_key = lower($1) ${NEWEST})
    union all
    (select ${COLUMNS} from sent_emails s join campaigns c on c.no = s.campaign_no and c.company_id = co.id ${REPLY}
       cross join (select null::text as email) p
     where s.campaign_no < 0 and s.company_id = co.id and s.subscriber_id is null and lower(s.email) = lower($1) ${NEWEST})
    union all
    (select ${COLUMNS} from sent_emails s join campaigns c on c.no = s.campaign_no and c.company_id = co.id ${REPLY}
       cross join (select null::text as email) p
     where s.campaign_no >= 0 and s.email is not null and s.subscriber_id is null and lower(s.email) = lower($1) ${NEWEST})
  ) s ${NEWEST}`;
const BY_ID = `
  select ${COLUMNS} from sent_emails s join campaigns c on c.no = s.campaign_no join companies co on co.id = c.company_id
    left join subscribers p on p.company_id = c.company_id and p.id = s.subscriber_id ${REPLY}
  where s.campaign_no = $1 and s.seq = $2`;

const INBOUND = `
  select co.name company, m.via, m.result, m.bounce_type, m.reason, m.diagnostic, m.received_at
  from companies co cross join lateral (
    select * from inbound_messages where company_id = co.id and lower(recipient) = lower($1)
    order by id desc limit ${MAX_ROWS}) m
  order by m.id desc limit ${MAX_ROWS}`;

interface Copy {
  id: string;
  campaign_no: number;
  seq: number;
  company: string;
  campaign: string;
  recipient: string;
  email: string;
  kind: string;
  status: number;
  attempts: number;
  error: string | null;
  smtp_response: string | null;
  next_attempt_at: Date | null;
  created_at: Date;
  sent_at: Date | null;
}

const COPIES = (found: string) => `
  select s.id, s.campaign_no, s.seq, co.name company, c.name campaign, coalesce(s.email, p.email) recipient, x.email, x.kind, x.status, x.attempts, x.error,
    x.smtp_response, x.next_attempt_at, x.created_at, x.sent_at
  from ${found} x
  join campaigns c on c.id = x.campaign_id
  join sent_emails s on s.campaign_no = c.no and s.seq = x.seq
  left join subscribers p on p.company_id = c.company_id and p.id = s.subscriber_id
  join companies co on co.id = x.company_id
  order by x.created_at desc, x.no limit ${MAX_ROWS}`;
const COPIES_TO_ADDRESS = COPIES(`(
  select k.* from companies o cross join lateral (
    select * from sent_email_copies where company_id = o.id and lower(email) = lower($1)
    order by created_at desc limit ${MAX_ROWS}) k)`);
const COPIES_OF_MAIL = COPIES(`(
  select k.* from campaigns m join sent_email_copies k on k.campaign_id = m.id
  where m.no = $1 and k.seq = $2)`);

const EVENTS = `
  select type, machine, metadata, created_at from email_events where sent_email_id = any($1) order by id limit 500`;

// A domain covers its subdomains, and either spelling of it.
const SUPPRESSIONS = `
  select co.name company, s.kind, coalesce(s.email, s.domain) blocked, s.reason, s.created_at
  from companies co cross join lateral (
    select * from suppressions where company_id = co.id and email_key = lower($1)
    union
    select * from suppressions where company_id = co.id and domain = any(domains_of($1))
    union
    select * from suppressions where company_id = co.id and domain_unicode = any(domains_of($1))
  ) s order by s.id limit ${MAX_ROWS}`;

const SUBSCRIBERS = `
  select co.name company, p.status, p.email, p.created_at
  from companies co join subscribers p on p.company_id = co.id and p.email_key = lower($1)
  order by p.id limit ${MAX_ROWS}`;

function detailOf(of: Mail | Copy): string {
  const reasons = [of.error, of.smtp_response].filter(Boolean).join(" · ");
  const next = of.next_attempt_at ? `next try ${of.next_attempt_at.toISOString()}` : "";
  return [reasons, of.attempts > 1 ? `${of.attempts} tries` : "", next].filter(Boolean).join("; ");
}

function copied(copy: Copy): History[number] {
  const about = `${copy.kind} to ${copy.email} of "${copy.campaign}" of ${copy.company} to ${copy.recipient}, mail ${copy.id}`;
  return {
    at: (copy.sent_at ?? copy.created_at).toISOString(),
    what: `copy ${SENT_EMAIL_STATUSES[copy.status] ?? "?"}`,
    detail: [about, detailOf(copy)].filter(Boolean).join("; "),
  };
}

function outcome(mail: Mail): History[number][] {
  return [
    {
      at: mail.created_at.toISOString(),
      what: "queued",
      detail: `"${mail.campaign}" of ${mail.company} to ${mail.email}, mail ${mail.id}`,
    },
    {
      at: (mail.sent_at ?? mail.created_at).toISOString(),
      what: SENT_EMAIL_STATUSES[mail.status] ?? "?",
      detail: detailOf(mail),
    },
  ];
}

async function reactions(mails: Mail[]): Promise<History> {
  const rows = await query<{ type: string; machine: boolean; metadata: object; created_at: Date }>(EVENTS, [
    mails.map(({ id }) => id),
  ]);
  return rows.map(({ type, machine, metadata, created_at }) => ({
    at: created_at.toISOString(),
    what: machine ? `${type} (machine)` : type,
    detail: JSON.stringify(metadata),
  }));
}

/** Messages that came in about the address, also those that changed nothing. */
async function cameIn(address: string): Promise<History> {
  type Row = Record<"company" | "via" | "result", string> &
    Record<"bounce_type" | "reason" | "diagnostic", string | null> & { received_at: Date };
  const rows = await query<Row>(INBOUND, [address]);
  return rows.map(({ company, via, result, bounce_type, reason, diagnostic, received_at }) => ({
    at: received_at.toISOString(),
    what: `came in (${result})`,
    detail: [`by ${via} to ${company}`, bounce_type, reason, diagnostic].filter(Boolean).join("; "),
  }));
}

async function blocks(address: string): Promise<History> {
  const rows = await query<{ company: string; kind: string; blocked: string; reason: string; created_at: Date }>(
    SUPPRESSIONS,
    [address],
  );
  return rows.map(({ company, kind, blocked, reason, created_at }) => ({
    at: created_at.toISOString(),
    what: `suppressed (${kind})`,
    detail: [`${blocked} at ${company}`, reason].filter(Boolean).join(": "),
  }));
}

async function knownAs(address: string): Promise<History> {
  const rows = await query<{ company: string; status: string; email: string; created_at: Date }>(SUBSCRIBERS, [
    address,
  ]);
  return rows.map(({ company, status, email, created_at }) => ({
    at: created_at.toISOString(),
    what: "subscriber",
    detail: `${email} at ${company}, ${status} now`,
  }));
}

export async function historyOf(recipient: string): Promise<History> {
  const wanted = recipient.trim();
  const byId = isUuid(wanted);
  const { campaign_no, seq } = byId ? await mailOf(wanted) : {};
  const values = byId ? [campaign_no, seq] : [wanted];
  const mails = await withIds(await query<Mail>(byId ? BY_ID : BY_ADDRESS, values));
  const copies = await withIds(await query<Copy>(byId ? COPIES_OF_MAIL : COPIES_TO_ADDRESS, values));
  const address = byId ? mails[0]?.email : wanted;
  const about = address ? [...(await knownAs(address)), ...(await blocks(address)), ...(await cameIn(address))] : [];
  const history = [...about, ...mails.flatMap(outcome), ...copies.map(copied), ...(await reactions(mails))];
  return history.toSorted((a, b) => a.at.localeCompare(b.at));
}
