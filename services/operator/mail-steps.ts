/** Stored mails with their copies and bounces, and their steps of a history, for `why` and `trace`. */
import { query } from "../../models/database/db.ts";
import { SENT_EMAIL_STATUS, SENT_EMAIL_STATUSES } from "../../models/sent-email-status.ts";
import { hitsOf } from "../../models/statements/hits.ts";
import { withIds } from "../../models/statements/mail-key.ts";
import type { ReturnsOf } from "../contracts.ts";
import type { MailNumber } from "../lib/tokens/mail-id.ts";

export const MAX_ROWS = 50;

export type Step = ReturnsOf<"operator.why">[number];

/** Fields shared by a mail and its copies. */
interface Attempted {
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

export interface Mail extends Attempted {
  /** The part of its Message-ID before the "@". */
  message_id?: string;
  campaign_id: string;
  company_id: string;
  bounced_at: Date | null;
}

const COLUMNS = `s.campaign_no, s.seq, c.id campaign_id, c.company_id, co.name company, coalesce(s.email, p.email) email,
  c.name campaign, s.status, s.attempts, s.error, s.smtp_response, s.next_attempt_at,
  c.expansion_began_at created_at, s.sent_at, s.bounced_at`;
const NEWEST = `order by s.campaign_no desc, s.seq desc limit ${MAX_ROWS}`;

// Searches company by company, so that each look-up uses an index.
const BY_ADDRESS = `
  select s.* from companies co cross join lateral (
    (select ${COLUMNS} from subscribers p join sent_emails s on s.subscriber_id = p.id
       join campaigns c on c.no = s.campaign_no and c.company_id = co.id
     where p.company_id = co.id and p.email_key = address_key($1) ${NEWEST})
    union all
    (select ${COLUMNS} from sent_emails s join campaigns c on c.no = s.campaign_no and c.company_id = co.id
       cross join (select null::text as email) p
     where s.email is not null and s.subscriber_id is null and lower(s.email) = lower($1) ${NEWEST})
  ) s ${NEWEST}`;
const BY_NUMBER = `
  select ${COLUMNS} from sent_emails s join campaigns c on c.no = s.campaign_no join companies co on co.id = c.company_id
    left join subscribers p on p.company_id = c.company_id and p.id = s.subscriber_id
  where s.campaign_no = $1 and s.seq = $2`;

/** The newest mails of each company. */
export const mailsTo = async (address: string): Promise<Mail[]> => withIds(await query<Mail>(BY_ADDRESS, [address]));

export const mailNumbered = async ({ campaign_no, seq }: MailNumber): Promise<Mail[]> =>
  withIds(await query<Mail>(BY_NUMBER, [campaign_no, seq]));

/** `id`, `campaign_no` and `seq` are those of the mail. */
export interface Copy extends Attempted {
  recipient: string;
  kind: string;
}

const COPIES = (found: string) => `
  select s.campaign_no, s.seq, co.name company, c.name campaign, coalesce(s.email, p.email) recipient, x.email, x.kind, x.status, x.attempts, x.error,
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

export const copiesTo = async (address: string): Promise<Copy[]> =>
  withIds(await query<Copy>(COPIES_TO_ADDRESS, [address]));

export const copiesOf = async ({ campaign_no, seq }: MailNumber): Promise<Copy[]> =>
  withIds(await query<Copy>(COPIES_OF_MAIL, [campaign_no, seq]));

const joinedParts = (...parts: (string | null | undefined | false)[]): string => parts.filter(Boolean).join("; ");

function detailOf(attempt: Attempted): string {
  const reasons = [attempt.error, attempt.smtp_response].filter(Boolean).join(" · ");
  return joinedParts(reasons, attempt.attempts > 1 && `${attempt.attempts} tries`);
}

export function copySteps(copy: Copy): Step[] {
  const about = `${copy.kind} to ${copy.email} of "${copy.campaign}" of ${copy.company} to ${copy.recipient}, mail ${copy.id}`;
  const next = copy.next_attempt_at && `next try ${copy.next_attempt_at.toISOString()}`;
  return [
    {
      at: (copy.sent_at ?? copy.created_at).toISOString(),
      what: `copy ${SENT_EMAIL_STATUSES[copy.status] ?? "?"}`,
      detail: joinedParts(about, detailOf(copy), next),
    },
  ];
}

const { queued, sending } = SENT_EMAIL_STATUS;

/** A mail that is queued or being sent has no outcome yet. The time of a failure is not stored. */
function outcomeSteps(mail: Mail): Step[] {
  const { status, attempts, next_attempt_at, sent_at, bounced_at, created_at } = mail;
  if (status === queued && next_attempt_at) {
    const label = attempts > 0 ? "next try" : "looked at again";
    return [{ at: next_attempt_at.toISOString(), what: label, detail: detailOf(mail) }];
  }
  if (status === queued) return [];
  if (status === sending) return [{ at: new Date().toISOString(), what: "being tried again", detail: detailOf(mail) }];
  const at = (bounced_at ?? sent_at ?? created_at).toISOString();
  const outcome = { at, what: SENT_EMAIL_STATUSES[status] ?? "?", detail: detailOf(mail) };
  // Accepted first, bounced later.
  const accepted = sent_at && bounced_at ? [{ at: sent_at.toISOString(), what: "sent", detail: "" }] : [];
  return [...accepted, outcome];
}

export function mailSteps(mail: Mail): Step[] {
  const detail = `"${mail.campaign}" of ${mail.company} to ${mail.email}, mail ${mail.id}`;
  return [{ at: mail.created_at.toISOString(), what: "queued", detail }, ...outcomeSteps(mail)];
}

export interface MailEvent {
  id: string;
  type: string;
  machine: boolean;
  metadata: object;
  created_at: Date;
}

const MAX_EVENTS = 500;
const EVENTS = `
  select id, type, machine, metadata, created_at from email_events where sent_email_id = any($1) order by id limit ${MAX_EVENTS}`;

/** Opens, clicks, unsubscribes, bounces and replies of the mails. */
export async function eventsOf(mails: readonly Mail[]): Promise<MailEvent[]> {
  const ofCompany = Map.groupBy(mails, ({ company_id }) => company_id);
  const events = await query<MailEvent>(EVENTS, [mails.map(({ id }) => id)]);
  const hits = await Promise.all([...ofCompany].map(([company, some]) => hitsOf(company, some, MAX_EVENTS)));
  return [...events, ...hits.flat()].sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, MAX_EVENTS);
}

export const eventStep = ({ type, machine, metadata, created_at }: MailEvent): Step => ({
  at: created_at.toISOString(),
  what: machine ? `${type} (machine)` : type,
  detail: JSON.stringify(metadata),
});

export const inOrder = (steps: readonly Step[]): Step[] => steps.toSorted((a, b) => a.at.localeCompare(b.at));
