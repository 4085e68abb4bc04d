/**
 * Classifies a batch of opens and clicks: by a machine or a person, first of its message or not, and the changes of the
 * message's row. Pure. A scanner is often recognised only at its third link; its earlier clicks are then marked, too.
 */
import { newIdAt } from "../../lib/ids.ts";
import { BURST_LINKS, BURST_MS, isMachineAgent, isTooFast, withoutAddresses } from "./bot-detection.ts";

export interface Hit {
  sentEmailId: string;
  /** 0 is the open pixel, n > 0 the n-th link. */
  link: number;
  /** Set if the link's token contains the target address. */
  url?: string;
  at: Date;
  userAgent: string;
  ip: string;
  /** Company that owns the tracking domain of the request; messages of other companies are unknown there. */
  hostOf?: string;
}

export interface Mail {
  id: string;
  company_id: string;
  campaign_id: string;
  seq: number;
  status: number;
  sent_at: Date | null;
  opened_at: Date | null;
  clicked_at: Date | null;
}

/** Stored click: a recent one (with its id), or the first by a person on a link before that (without). */
export interface EarlierClick {
  sent_email_id: string;
  id: string | null;
  link: number;
  created_at: Date;
  machine: boolean;
}

export interface EventRow {
  /** Id of the event; `created_at` is its time. */
  id: string;
  company_id: string;
  sent_email_id: string;
  machine: boolean;
  /** Null for an open. */
  link: number | null;
  is_first: boolean;
  is_first_of_link: boolean;
  user_agent: string;
  ip: string;
  url: string | null;
  /** The link's token contained the target address. */
  has_own_url: boolean;
  created_at: Date;
}

export interface MailChange {
  id: string;
  company_id: string;
  campaign_id: string;
  seq: number;
  opens: number;
  clicks: number;
  opened_at: Date | null;
  clicked_at: Date | null;
}

interface ClassifiedHits {
  events: EventRow[];
  changes: MailChange[];
  /** Stored clicks that turned out to be a machine's. */
  marked: string[];
}

interface Click {
  link: number;
  at: Date;
  machine: boolean;
  storedId: string | null;
  event?: EventRow;
}

const withinBurst = (at: Date, click: Click) => at.getTime() - click.at.getTime() <= BURST_MS;

/** Marks the clicks of a burst that ends with `click`; true if there is one. */
function markBurst(clicks: Click[], click: Click): boolean {
  const together = clicks.filter((other) => withinBurst(click.at, other));
  if (new Set(together.map(({ link }) => link)).size < BURST_LINKS) return false;
  for (const other of together) other.machine = true;
  return true;
}

function eventOf(hit: Hit, mail: Mail, url: string | undefined): EventRow {
  return {
    id: newIdAt(hit.at.getTime()),
    company_id: mail.company_id,
    sent_email_id: mail.id,
    machine: isMachineAgent(hit.userAgent) || isTooFast(hit.at, mail),
    link: hit.link === 0 ? null : hit.link,
    is_first: false,
    is_first_of_link: false,
    user_agent: withoutAddresses(hit.userAgent),
    ip: hit.ip,
    url: url ?? null,
    has_own_url: hit.url !== undefined,
    created_at: hit.at,
  };
}

function classifyOpens(events: EventRow[], change: MailChange): void {
  for (const event of events) {
    if (event.machine) continue;
    event.is_first = change.opened_at === null;
    change.opened_at ??= event.created_at;
    change.opens++;
  }
}

function classifyClicks(events: EventRow[], earlier: readonly EarlierClick[], change: MailChange): string[] {
  const before = earlier.filter(({ id }) => id === null);
  const clicks: Click[] = earlier.flatMap(({ id, link, created_at, machine }) =>
    id === null ? [] : [{ link, at: created_at, machine, storedId: id }],
  );
  clicks.sort((a, b) => a.at.getTime() - b.at.getTime());
  const wasHuman = clicks.filter(({ machine }) => !machine);
  for (const event of events) {
    const click: Click = { link: event.link!, at: event.created_at, machine: event.machine, storedId: null, event };
    clicks.push(click);
    markBurst(clicks, click);
  }
  const marked = wasHuman.filter(({ machine }) => machine);

  const byPeople = clicks.filter(({ machine }) => !machine);
  const links = new Set(before.map(({ link }) => link));
  if (marked.length > 0) {
    const first = [
      ...before.map(({ created_at }) => created_at),
      ...byPeople.filter((c) => c.storedId).map((c) => c.at),
    ];
    change.clicked_at = first.length === 0 ? null : new Date(Math.min(...first.map(Number)));
  }
  for (const { event, link, at } of byPeople) {
    if (event) {
      event.is_first = change.clicked_at === null;
      event.is_first_of_link = !links.has(link);
      change.clicked_at ??= at;
      change.clicks++;
    }
    links.add(link);
  }
  for (const { event, machine } of clicks) if (event) event.machine = machine;
  change.clicks -= marked.length;
  return marked.map(({ storedId }) => storedId!);
}

/** `urlOf` must know every link of the hits. Hits of unknown messages must have been removed. */
export function classifyHits(
  hits: readonly Hit[],
  mails: ReadonlyMap<string, Mail>,
  earlier: readonly EarlierClick[],
  urlOf: (hit: Hit) => string | undefined,
): ClassifiedHits {
  const classified: ClassifiedHits = { events: [], changes: [], marked: [] };
  const inOrder = hits.toSorted((a, b) => a.at.getTime() - b.at.getTime());
  const hitsOf = Map.groupBy(inOrder, ({ sentEmailId }) => sentEmailId);
  const earlierOf = Map.groupBy(earlier, ({ sent_email_id }) => sent_email_id);
  for (const [id, ofMail] of hitsOf) {
    const mail = mails.get(id)!;
    const { company_id, campaign_id, seq, opened_at, clicked_at } = mail;
    const change: MailChange = { id, company_id, campaign_id, seq, opens: 0, clicks: 0, opened_at, clicked_at };
    const events = ofMail.map((hit) => eventOf(hit, mail, urlOf(hit)));
    classifyOpens(
      events.filter(({ link }) => link === null),
      change,
    );
    const clicked = events.filter(({ link }) => link !== null);
    classified.marked.push(...classifyClicks(clicked, earlierOf.get(id) ?? [], change));
    classified.events.push(...events);
    classified.changes.push(change);
  }
  return classified;
}
