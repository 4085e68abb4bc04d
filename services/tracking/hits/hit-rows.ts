/**
 * Chooses the table of a hit: `hits` (models/hit.ts), or email_events if `hits` cannot hold it (a link with its own
 * address, an IP that is not storable) or its monthly partition is missing and cannot be created. No hit is lost.
 */
import { isIP } from "node:net";
import { query } from "../../../models/database/db.ts";
import { HIT_FLAG, HIT_VARIANT_SHIFT } from "../../../models/hit.ts";
import type { EventRow, MailChange } from "./classify-hits.ts";
import { CHANGED, IN_EVENTS, IN_HITS, SUBSCRIBED, type WRITE } from "./hit-statements.ts";

export interface MailOfRow {
  company_id: string;
  company_no: number;
  campaign_id: string;
  campaign_no: number;
  seq: number;
  variant: number | null;
  /**
   * Kinds of hits that the company's webhook endpoints subscribed to when the message was read. Endpoints created after
   * that do not get the hit.
   */
  subscribed: readonly string[];
}

interface EventOfMail extends EventRow {
  mail: MailOfRow;
}

/** PostgreSQL's inet accepts no address with a zone. */
const isStorableIp = (ip: string) => ip === "" || (isIP(ip) > 0 && !ip.includes("%"));

function flagsOf({ machine, is_first, is_first_of_link, mail }: EventOfMail): number {
  const flags =
    (machine ? HIT_FLAG.machine : 0) | (is_first ? HIT_FLAG.first : 0) | (is_first_of_link ? HIT_FLAG.firstOfLink : 0);
  return flags | ((mail.variant === null ? 0 : mail.variant + 1) << HIT_VARIANT_SHIFT);
}

const ms = (at: Date | null) => at?.getTime() ?? null;

type Value = string | number | boolean | null;
type Columns = Readonly<Record<string, string>>;
/** Value of each column. */
type Fill<Row, C extends Columns> = { [K in keyof C]: (row: Row) => Value };

/** Returns arrays in the order of the columns. */
const arraysOf = <Row, C extends Columns>(columns: C, fill: Fill<Row, C>, rows: readonly Row[]): Value[][] =>
  Object.keys(columns).map((name) => rows.map(fill[name]!));

const ofHit: Fill<EventOfMail, typeof IN_HITS> = {
  id: ({ id }) => id,
  company_no: ({ mail }) => mail.company_no,
  campaign_no: ({ mail }) => mail.campaign_no,
  seq: ({ mail }) => mail.seq,
  link: ({ link }) => link ?? 0,
  flags: flagsOf,
  ip: ({ ip }) => ip,
  agent: (event) => event.user_agent,
};

const ofEvent: Fill<EventOfMail, typeof IN_EVENTS> = {
  id: ({ id }) => id,
  company_id: (event) => event.company_id,
  campaign_id: ({ mail }) => mail.campaign_id,
  campaign_no: ({ mail }) => mail.campaign_no,
  seq: ({ mail }) => mail.seq,
  sent_email_id: (event) => event.sent_email_id,
  link: ({ link }) => link ?? 0,
  machine: ({ machine }) => machine,
  user_agent: (event) => event.user_agent,
  ip: ({ ip }) => ip,
  url: ({ url }) => url,
  is_first: (event) => event.is_first,
  is_first_of_link: (event) => event.is_first_of_link,
  at_ms: (event) => event.created_at.getTime(),
};

const ofChange: Fill<MailChange & { mail: MailOfRow }, typeof CHANGED> = {
  campaign_no: ({ mail }) => mail.campaign_no,
  seq: ({ seq }) => seq,
  opens: ({ opens }) => opens,
  clicks: ({ clicks }) => clicks,
  opened_ms: (change) => ms(change.opened_at),
  clicked_ms: (change) => ms(change.clicked_at),
};

interface GivenHits {
  events: readonly EventRow[];
  changes: readonly MailChange[];
  mails: ReadonlyMap<string, MailOfRow>;
  /** False: all become rows of email_events. */
  mayUseHits: boolean;
}

const isSubscribed = ({ link, mail }: EventOfMail) => mail.subscribed.includes(link === null ? "opened" : "clicked");

export function rowsOf(given: GivenHits): { to: keyof typeof WRITE; values: Value[][] } {
  const { changes, mails, mayUseHits } = given;
  const events = given.events.map((event): EventOfMail => ({ ...event, mail: mails.get(event.sent_email_id)! }));
  const fitsHits = ({ has_own_url, ip }: EventOfMail) => mayUseHits && !has_own_url && isStorableIp(ip);
  const { true: hits = [], false: others = [] } = Object.groupBy(events, (event) => `${fitsHits(event)}`);
  const subscribed = hits.filter(isSubscribed);
  const to =
    others.length === 0 ? (subscribed.length === 0 ? "hits" : "subscribed") : hits.length === 0 ? "events" : "all";
  const changed = changes.map((change) => ({ ...change, mail: mails.get(change.id)! }));
  const values = arraysOf(CHANGED, ofChange, changed);
  if (to !== "events") values.push(...arraysOf(IN_HITS, ofHit, hits));
  if (to === "subscribed" || to === "all") values.push(...arraysOf(SUBSCRIBED, ofEvent, subscribed));
  if (to === "events" || to === "all") values.push(...arraysOf(IN_EVENTS, ofEvent, others));
  return { to, values };
}

/** SQLSTATE check_violation: no partition exists for the row. */
const lacksPart = (error: unknown) => {
  const { code, table } = error as { code?: string; table?: string };
  return code === "23514" && table === "hits";
};

const MAKE_PARTS = "select prepare_hit_parts()";

/** Creates a missing monthly partition; if that fails, its hits go to email_events. */
export async function withParts<T>(store: (mayUseHits: boolean) => Promise<T>): Promise<T> {
  try {
    return await store(true);
  } catch (error) {
    if (!lacksPart(error)) throw error;
  }
  // The periodic creation of partitions in campaigns logs the reason.
  await query(MAKE_PARTS).catch(() => {});
  try {
    return await store(true);
  } catch (error) {
    if (!lacksPart(error)) throw error;
    return await store(false);
  }
}
