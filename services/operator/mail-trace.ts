/**
 * Lists the history of one mail in chronological order: its campaign, the nodes that handled it, the mail server's
 * answer, bounces, and webhooks that reported it. `why` is about a person, `trace` about a mail.
 */
import { query, queryOne } from "../../models/database/db.ts";
import { SEND_CHUNK_STATE } from "../../models/send-chunk.ts";
import { SENT_EMAIL_STATUS } from "../../models/sent-email-status.ts";
import { idOfMessage, mailOf } from "../../models/statements/mail-key.ts";
import type { Ctx } from "../lib/caller.ts";
import { notFound } from "../lib/errors.ts";
import { isUuid } from "../lib/ids.ts";
import { waitingSteps } from "./campaign-progress.ts";
import {
  copiesOf,
  copySteps,
  eventStep,
  eventsOf,
  inOrder,
  MAX_ROWS,
  type Mail,
  mailNumbered,
  mailSteps,
  mailsTo,
  type Step,
} from "./mail-steps.ts";
import { webhookSteps } from "./mail-webhooks.ts";

const { queued, sending } = SENT_EMAIL_STATUS;

/** Accepts the mail's id, its Message-ID, or an address (for the newest mail to it). */
async function find(wanted: string): Promise<Mail> {
  const id = isUuid(wanted) ? wanted : await idOfMessage(wanted);
  const [byId] = id === null ? [] : await mailNumbered(await mailOf(id));
  if (byId) return byId;
  const found = (await mailsTo(wanted)).toSorted((a, b) => b.created_at.getTime() - a.created_at.getTime());
  if (!found[0]) throw notFound();
  return found[0];
}

const iso = (at: Date): string => at.toISOString();

interface CampaignTimes {
  kind: string;
  is_transactional: boolean;
  server: string | null;
  sender: string | null;
  status: string;
  error: string | null;
  created_at: Date;
  scheduled_for: Date | null;
  started_at: Date | null;
  expansion_began_at: Date | null;
  expanded_at: Date | null;
  finished_at: Date | null;
  stopped_at: Date | null;
}

const CAMPAIGN = `
  select c.campaign_type kind, c.is_transactional, s.name || ' (' || s.host || ':' || s.port || ')' server, t.sender_email sender,
    c.status, c.error, c.created_at, c.scheduled_for, c.started_at, c.expansion_began_at, c.expanded_at, c.finished_at,
    c.stopped_at
  from campaigns c left join smtp_configs s on s.company_id = c.company_id and s.id = c.smtp_config_id
    left join campaign_contents t on t.company_id = c.company_id and t.campaign_id = c.id
  where c.company_id = $1 and c.id = $2`;

function campaignSteps(mail: Mail, times: CampaignTimes): Step[] {
  const through = times.server ? `through ${times.server}` : "";
  const kind = times.is_transactional ? `${times.kind}, transactional` : times.kind;
  const about = [`"${mail.campaign}" of ${mail.company}, ${mail.campaign_id}`, kind, through]
    .filter(Boolean)
    .join(", ");
  const steps: [Date | null, string, string][] = [
    [times.created_at, "campaign created", about],
    [times.scheduled_for, "campaign scheduled for this time", ""],
    [times.started_at, "sending began", ""],
    [times.expansion_began_at, "started writing recipients", ""],
    [times.expanded_at, "all recipients written", ""],
    [times.stopped_at, "campaign stopped", times.error ?? ""],
    [times.finished_at, `campaign ${times.status}`, times.error ?? ""],
  ];
  return steps.flatMap(([at, what, detail]) => (at ? [{ at: iso(at), what, detail }] : []));
}

interface Chunk {
  no: number;
  lo: number;
  hi: number;
  marked_to: number;
  is_ready: boolean;
  is_leased: boolean;
  is_waiting: boolean;
  owner: string | null;
  fence: number;
  lease_until: Date | null;
  due_at: Date | null;
}

// A campaign has some chunks per thousand recipients, and more after a resume.
const CHUNKS = `
  select no, lo, hi, marked_to, state = ${SEND_CHUNK_STATE.ready} is_ready, state = ${SEND_CHUNK_STATE.leased} is_leased, state = ${SEND_CHUNK_STATE.waiting} is_waiting,
    owner, fence, lease_until, due_at
  from send_chunks where company_id = $1 and campaign_id = $2 and $3 between lo and hi order by no limit ${MAX_ROWS}`;

/** The time of a mail that was neither sent nor bounced is not stored; it is after the campaign's start. */
const settledAt = ({ sent_at, bounced_at, created_at }: Mail, { started_at }: CampaignTimes): Date =>
  sent_at ?? bounced_at ?? (started_at && started_at > created_at ? started_at : created_at);

const isTimeKnown = ({ status, sent_at, bounced_at }: Mail) =>
  status === queued || status === sending || Boolean(sent_at ?? bounced_at);

function outcomeStep(step: Step, mail: Mail, times: CampaignTimes): Step {
  if (isTimeKnown(mail)) return step;
  const detail = [step.detail, "time not stored"].filter(Boolean).join("; ");
  return { ...step, at: iso(settledAt(mail, times)), detail };
}

/** The node in a lease owner's name. */
const nodeOf = (owner: string) => owner.slice(0, owner.lastIndexOf(":"));

/**
 * The time of leasing a chunk is not stored: a finished chunk names its node, an unfinished one shows its current
 * state.
 */
function chunkStep(chunk: Chunk, mail: Mail, times: CampaignTimes, nowMs: number): Step | undefined {
  const { no, lo, hi, owner, fence, lease_until, due_at, marked_to } = chunk;
  const run = `chunk ${no}, recipients ${lo} to ${hi}`;
  const now = iso(new Date(nowMs));
  if (chunk.is_leased && owner && lease_until) {
    const handed =
      mail.status !== queued
        ? ""
        : marked_to >= mail.seq
          ? "; this mail is handed over, or about to be"
          : "; this mail is not handed over yet";
    const until = lease_until.getTime() < nowMs ? "lease expired at" : "leased until";
    return {
      at: now,
      what: `leased by ${nodeOf(owner)}`,
      detail: `${run}, ${until} ${iso(lease_until)}, lease ${fence}${handed}`,
    };
  }
  if (chunk.is_waiting)
    return {
      at: due_at ? iso(due_at) : now,
      what: "waits",
      detail: due_at ? `${run}, for this hour of its recipients` : `${run}, for the winner of the variants`,
    };
  if (chunk.is_ready) return { at: now, what: "waits for a sender", detail: run };
  if (!owner) return undefined;
  return { at: iso(settledAt(mail, times)), what: "taken", detail: `by ${nodeOf(owner)} with ${run}, lease ${fence}` };
}

// Postfix and Exchange; Exim; Sendmail and compatible servers; Amazon SES.
const QUEUE_IDS = [
  /\bqueued as ([\w.-]+)/i,
  /\bid=([\w.-]+)/,
  /\bInternalId=(\d+)/,
  /^250 2\.0\.0 ([0-9A-Za-z]{14,}) Message accepted/,
  /^250 (?:2\.\d\.\d )?Ok:? ([\w-]{16,})$/i,
];

/** The mail's id in the server's own log, if the reply contains it in a known format. */
export function queueIdOf(reply: string | null): string | undefined {
  for (const pattern of QUEUE_IDS) {
    const id = pattern.exec(reply ?? "")?.[1];
    if (id) return id.replace(/\.$/, "");
  }
  return undefined;
}

/** The Message-ID and sender, for finding the mail in a server's log or a mailbox. */
function sentAs(mail: Mail, sender: string | null): Step[] {
  if (!mail.sent_at) return [];
  const queueId = queueIdOf(mail.smtp_response);
  const names = [
    ...(mail.message_id && sender
      ? [`Message-ID <${mail.message_id}@${sender.slice(sender.lastIndexOf("@") + 1)}>`]
      : []),
    ...(queueId ? [`queue id ${queueId}`] : []),
  ];
  return names.length > 0 ? [{ at: iso(mail.sent_at), what: "known as", detail: names.join(", ") }] : [];
}

interface Returned {
  via: string;
  result: string;
  bounce_type: string | null;
  reason: string | null;
  diagnostic: string | null;
  received_at: Date;
}

const RETURNED = `
  select via, result, bounce_type, reason, diagnostic, received_at from inbound_messages
  where company_id = $1 and lower(recipient) = lower($2) and sent_email_id = $3 order by id limit ${MAX_ROWS}`;

async function returned(mail: Mail): Promise<Step[]> {
  const rows = await query<Returned>(RETURNED, [mail.company_id, mail.email, mail.id]);
  return rows.map(({ via, result, bounce_type, reason, diagnostic, received_at }) => ({
    at: iso(received_at),
    what: `inbound message (${result})`,
    detail: [`by ${via}`, bounce_type, reason, diagnostic].filter(Boolean).join("; "),
  }));
}

/** Throws NOT_FOUND if nothing was sent under that id or to that address. */
export async function traceOf(ctx: Ctx, wanted: string): Promise<Step[]> {
  const mail = await find(wanted.trim());
  const [times, chunks, copies, events, inboundSteps, waiting] = await Promise.all([
    queryOne<CampaignTimes>(CAMPAIGN, [mail.company_id, mail.campaign_id]),
    query<Chunk>(CHUNKS, [mail.company_id, mail.campaign_id, mail.seq]),
    copiesOf(mail),
    eventsOf([mail]),
    returned(mail),
    waitingSteps(ctx, mail),
  ]);
  const nowMs = Date.now();
  const [written, ...outcome] = mailSteps(mail);
  return inOrder([
    ...campaignSteps(mail, times!),
    written!,
    ...chunks.flatMap((chunk) => chunkStep(chunk, mail, times!, nowMs) ?? []),
    ...outcome.map((step) => outcomeStep(step, mail, times!)),
    ...sentAs(mail, times!.sender),
    ...copies.flatMap(copySteps),
    ...events.map(eventStep),
    ...inboundSteps,
    ...waiting,
    ...(await webhookSteps(mail, events, times!)),
  ]);
}
