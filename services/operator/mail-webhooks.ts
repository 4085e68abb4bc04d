/** Finds the webhook deliveries that reported a mail, and their results. */
import { type Client, query, transaction } from "../../models/database/db.ts";
import { SENT_EMAIL_STATUS } from "../../models/sent-email-status.ts";
import { firstIdAt } from "../lib/ids.ts";
import { MAX_ROWS, type Mail, type MailEvent, type Step } from "./mail-steps.ts";

/** A delivery is written by the statement that records its event, which may take a while. */
const BEFORE_MS = 2_000;
const AFTER_MS = 20_000;
const MAX_MOMENTS = 40;
/**
 * A busy company has hundreds of thousands of deliveries in such a period, and no index leads from a mail to its
 * deliveries.
 */
const SEARCH = { statement_timeout: 3_000 };
const TIMED_OUT = "57014";

interface Delivery {
  id: string;
  url: string;
  event_type: string;
  status: string;
  attempts: number;
  response_status: number | null;
  last_error: string | null;
  next_attempt_at: Date | null;
  created_at: Date;
}

// Ids begin with their time, so a range of ids is a range of time.
const DELIVERIES = `
  select d.id, w.url, d.event_type, d.status, d.attempts, d.response_status, d.last_error, d.next_attempt_at, d.created_at
  from webhook_endpoints w cross join lateral (
    select * from webhook_deliveries
    where company_id = w.company_id and endpoint_id = w.id and id >= $2 and id < $3 and payload->>'sent_email_id' = $4
    order by id limit ${MAX_ROWS}) d
  where w.company_id = $1`;

/** Merges times that are close together into one range. */
export function spansAround(momentsMs: readonly number[]): [fromMs: number, toMs: number][] {
  const spans: [number, number][] = [];
  for (const at of momentsMs.toSorted((a, b) => a - b)) {
    const last = spans.at(-1);
    if (last && at - BEFORE_MS <= last[1]) last[1] = at + AFTER_MS;
    else spans.push([at - BEFORE_MS, at + AFTER_MS]);
  }
  return spans;
}

interface CampaignEnds {
  started_at: Date | null;
  finished_at: Date | null;
}

/**
 * Time ranges in which a delivery can have been written. The time of a failure is not stored: it is any time until the
 * campaign was over.
 */
function reportedWithin(mail: Mail, events: readonly MailEvent[], { started_at, finished_at }: CampaignEnds) {
  const times = [mail.sent_at, mail.bounced_at, ...events.map(({ created_at }) => created_at)];
  const spans = spansAround(times.flatMap((at) => at?.getTime() ?? []).slice(0, MAX_MOMENTS));
  if (mail.status === SENT_EMAIL_STATUS.failed) {
    const from = (started_at ?? mail.created_at).getTime();
    spans.push([from - BEFORE_MS, (finished_at?.getTime() ?? Date.now()) + AFTER_MS]);
  }
  return spans;
}

function deliveryStep({
  url,
  event_type,
  status,
  attempts,
  response_status,
  last_error,
  next_attempt_at,
  created_at,
}: Delivery): Step {
  const next = status === "pending" && next_attempt_at ? `next try ${next_attempt_at.toISOString()}` : "";
  const answered = response_status === null ? "" : `answered ${response_status}`;
  const tries = attempts === 1 ? "1 try" : `${attempts} tries`;
  return {
    at: created_at.toISOString(),
    what: `webhook ${status}`,
    detail: [`${event_type} to ${url}`, tries, answered, last_error, next].filter(Boolean).join("; "),
  };
}

/** `events` are all events of the mail. */
export async function webhookSteps(mail: Mail, events: readonly MailEvent[], campaign: CampaignEnds): Promise<Step[]> {
  const spans = reportedWithin(mail, events, campaign);
  const search = async (client: Client) => {
    const found = new Map<string, Delivery>();
    for (const [from, to] of spans) {
      const values = [mail.company_id, firstIdAt(from), firstIdAt(to), mail.id];
      for (const delivery of await query<Delivery>(DELIVERIES, values, client)) found.set(delivery.id, delivery);
    }
    return [...found.values()].map(deliveryStep);
  };
  try {
    return await transaction(search, { settings: SEARCH });
  } catch (error) {
    if ((error as { code?: string }).code !== TIMED_OUT) throw error;
    const detail =
      "the company has too many deliveries in that period to search; list the endpoint's deliveries through the API";
    return [{ at: new Date().toISOString(), what: "webhooks not searched", detail }];
  }
}
