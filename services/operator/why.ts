/** One recipient's story, in order of time: what was sent, what the mail server said, what the reader did, what blocks. */
import { query } from "../../models/db.ts";
import type { ReturnsOf } from "../contracts.ts";
import { isUuid } from "../ids.ts";

const MOST = 50;
const STATUS = ["queued", "sending", "sent", "failed", "bounced", "suppressed", "unknown"];

type Story = ReturnsOf<"operator.why">;

interface Mail {
  id: string;
  company_id: string;
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

const COLUMNS = `s.id, s.company_id, s.email, c.name campaign, s.status, s.attempts, s.error, s.smtp_response,
  s.next_attempt_at, s.created_at, s.sent_at`;

// Company by company, so that each look-up is one of an index.
const BY_ADDRESS = `
  select s.* from companies co cross join lateral (
    (select ${COLUMNS} from subscribers p join sent_emails s on s.subscriber_id = p.id join campaigns c on c.id = s.campaign_id
     where p.company_id = co.id and p.email_key = lower($1) order by s.id desc limit ${MOST})
    union all
    (select ${COLUMNS} from sent_emails s join campaigns c on c.id = s.campaign_id
     where s.company_id = co.id and s.subscriber_id is null and lower(s.email) = lower($1) order by s.id desc limit ${MOST})
  ) s order by s.id desc limit ${MOST}`;
const BY_ID = `select ${COLUMNS} from sent_emails s join campaigns c on c.id = s.campaign_id where s.id = $1`;

const EVENTS = `
  select type, machine, metadata, created_at from email_events where sent_email_id = any($1) order by id limit 500`;

const SUPPRESSIONS = `
  select co.name company, s.kind, coalesce(s.email, s.domain) blocked, s.reason, s.created_at
  from suppressions s join companies co on co.id = s.company_id
  where s.email_key = lower($1) or s.domain = lower(split_part($1, '@', -1)) limit ${MOST}`;

function outcome(mail: Mail): Story[number][] {
  const told = [mail.error, mail.smtp_response].filter(Boolean).join(" · ");
  const next = mail.next_attempt_at ? `next try ${mail.next_attempt_at.toISOString()}` : "";
  const detail = [told, mail.attempts > 1 ? `${mail.attempts} tries` : "", next].filter(Boolean).join("; ");
  return [
    {
      at: mail.created_at.toISOString(),
      what: "queued",
      detail: `"${mail.campaign}" to ${mail.email}, mail ${mail.id}`,
    },
    { at: (mail.sent_at ?? mail.created_at).toISOString(), what: STATUS[mail.status] ?? "?", detail },
  ];
}

async function reactions(mails: Mail[]): Promise<Story> {
  const rows = await query<{ type: string; machine: boolean; metadata: object; created_at: Date }>(EVENTS, [
    mails.map(({ id }) => id),
  ]);
  return rows.map(({ type, machine, metadata, created_at }) => ({
    at: created_at.toISOString(),
    what: machine ? `${type} (machine)` : type,
    detail: JSON.stringify(metadata),
  }));
}

async function blocks(address: string): Promise<Story> {
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

export async function storyOf(recipient: string): Promise<Story> {
  const wanted = recipient.trim();
  const mails = await query<Mail>(isUuid(wanted) ? BY_ID : BY_ADDRESS, [wanted]);
  const address = isUuid(wanted) ? mails[0]?.email : wanted;
  const story = [...mails.flatMap(outcome), ...(await reactions(mails)), ...(address ? await blocks(address) : [])];
  return story.toSorted((a, b) => a.at.localeCompare(b.at));
}
