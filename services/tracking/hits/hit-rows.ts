/**
 * Where a hit's row goes: to `hits` (models/hit.ts), or in full to email_events, as nodes of the version before write it. That is
 * where it goes, too, when the table of its month is missing and cannot be made: no hit is lost for that.
 */
import { isIP } from "node:net";
import { type Client, query } from "../../../models/database/db.ts";
import { HIT_FLAG, HIT_VARIANT_SHIFT } from "../../../models/hit.ts";
import type { EventRow, MailChange } from "./classify-hits.ts";
import type { HitAgents } from "./hit-agents.ts";

export interface MailOfRow {
  company_id: string;
  campaign_id: string;
  campaign_no: number;
  seq: number;
  version: string;
  variant: number | null;
  /** Its recipient is compact, and all nodes know hits. */
  in_hits: boolean;
}

interface HitRow extends EventRow {
  mail: MailOfRow;
  company_no: number;
  agent_no: number;
}

/** The type of the column; an address with a zone is none. */
const isStorableIp = (ip: string) => ip === "" || (isIP(ip) > 0 && !ip.includes("%"));

function flagsOf({ machine, is_first, is_first_of_link, mail }: HitRow): number {
  const flags =
    (machine ? HIT_FLAG.machine : 0) | (is_first ? HIT_FLAG.first : 0) | (is_first_of_link ? HIT_FLAG.firstOfLink : 0);
  return flags | ((mail.variant === null ? 0 : mail.variant + 1) << HIT_VARIANT_SHIFT);
}

const ms = (at: Date | null) => at?.getTime() ?? null;

/** In the order of the columns that the statements take (hit-statements.ts). */
const ofHits = (rows: readonly HitRow[]): unknown[][] => [
  rows.map(({ id }) => id),
  rows.map(({ company_id }) => company_id),
  rows.map(({ company_no }) => company_no),
  rows.map(({ mail }) => mail.campaign_id),
  rows.map(({ mail }) => mail.campaign_no),
  rows.map(({ mail }) => mail.seq),
  rows.map(({ sent_email_id }) => sent_email_id),
  rows.map(({ agent_no }) => agent_no),
  rows.map(({ user_agent }) => user_agent),
  rows.map(({ link }) => link ?? 0),
  rows.map(flagsOf),
  rows.map(({ ip }) => ip),
  rows.map(({ url }) => url),
];

const ofEvents = (rows: readonly EventRow[]): unknown[][] => [
  rows.map(({ id }) => id),
  rows.map(({ sent_email_id }) => sent_email_id),
  rows.map(({ link }) => link),
  rows.map(({ machine }) => machine),
  rows.map(({ is_first }) => is_first),
  rows.map(({ is_first_of_link }) => is_first_of_link),
  rows.map(({ user_agent }) => user_agent),
  rows.map(({ ip }) => ip),
  rows.map(({ url }) => url),
  rows.map(({ created_at }) => ms(created_at)),
];

const ofMails = (changes: readonly MailChange[], mails: ReadonlyMap<string, MailOfRow>): unknown[][] => [
  changes.map((change) => change.company_id),
  changes.map((change) => change.campaign_id),
  changes.map((change) => change.seq),
  changes.map((change) => change.opens),
  changes.map((change) => change.clicks),
  changes.map((change) => ms(change.opened_at)),
  changes.map((change) => ms(change.clicked_at)),
  changes.map((change) => mails.get(change.id)!.version),
  changes.map((change) => mails.get(change.id)!.campaign_no),
  changes.map((change) => change.id),
];

interface Given {
  events: readonly EventRow[];
  changes: readonly MailChange[];
  mails: ReadonlyMap<string, MailOfRow>;
  agents: HitAgents;
  client: Client | undefined;
  /** False: all in full. */
  mayBeCompact: boolean;
}

export async function rowsOf(given: Given): Promise<{ to: "hits" | "events" | "both"; values: unknown[][] }> {
  const { events, changes, mails, agents, client, mayBeCompact } = given;
  const candidates = events.filter(
    ({ sent_email_id, has_own_url, ip }) =>
      mayBeCompact && mails.get(sent_email_id)!.in_hits && !has_own_url && isStorableIp(ip),
  );
  const numbers = await agents.of(
    candidates.map(({ company_id, user_agent, created_at }) => ({
      companyId: company_id,
      agent: user_agent,
      at: created_at,
    })),
    client,
  );
  const hits = candidates.flatMap((event, n): HitRow[] => {
    const known = numbers[n];
    const mail = mails.get(event.sent_email_id)!;
    return known ? [{ ...event, mail, company_no: known.companyNo, agent_no: known.agentNo }] : [];
  });
  const ofMail = ofMails(changes, mails);
  if (hits.length === events.length) return { to: "hits", values: [...ofMail, ...ofHits(hits)] };
  const compact = new Set(hits.map(({ id }) => id));
  const full = ofEvents(events.filter(({ id }) => !compact.has(id)));
  if (hits.length === 0) return { to: "events", values: [...ofMail, ...full] };
  return { to: "both", values: [...ofMail, ...ofHits(hits), ...full] };
}

/** SQLSTATE check_violation: of a table in parts, none of which is for the row. */
const lacksPart = (error: unknown) => {
  const { code, table } = error as { code?: string; table?: string };
  return code === "23514" && table === "hits";
};

const MAKE_PARTS = "select prepare_hit_parts()";

/** Where the month's table is missing it is made, and where that fails the hits are stored in full. */
export async function withParts<T>(store: (mayBeCompact: boolean) => Promise<T>): Promise<T> {
  try {
    return await store(true);
  } catch (error) {
    if (!lacksPart(error)) throw error;
  }
  // Why it fails stands in the log of campaigns, which makes parts ahead.
  await query(MAKE_PARTS).catch(() => {});
  try {
    return await store(true);
  } catch (error) {
    if (!lacksPart(error)) throw error;
    return await store(false);
  }
}
