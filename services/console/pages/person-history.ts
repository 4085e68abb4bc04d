/**
 * A person's mails and events on one timeline, merged from two API lists that are sorted newest first. A page's link
 * has the number of rows that earlier pages took from each list, so that none is repeated or left out.
 */
import { isServiceError } from "../../lib/errors.ts";
import { messages } from "../messages.ts";
import { PAGE_SIZE } from "../pager.ts";
import { type CompanyVisit, callIn } from "../request.ts";

export interface TimelineEntry {
  at: string;
  status: string;
  what: string;
  about: string;
  /** Link target; only http and https. */
  href: string | null;
  campaign: string | null;
}

interface History {
  moments: TimelineEntry[];
  mails: number;
  events: number;
  older: string | null;
  isNewest: boolean;
}

interface Page<T> {
  count: number;
  results: T[];
}

const startOf = (text: string | undefined): number => (text !== undefined && /^\d{1,7}$/.test(text) ? Number(text) : 0);

/** Reads rows from `start` on from a paged list. */
async function rowsFrom<T>(start: number, read: (page: number) => Promise<Page<T>>): Promise<Page<T>> {
  const first = Math.floor(start / PAGE_SIZE) + 1;
  const skip = start % PAGE_SIZE;
  // A page after the last one is empty.
  const orNone = (page: number): Promise<Page<T>> =>
    read(page).catch((error) => {
      if (isServiceError(error, "INVALID_PAGE")) return { count: start, results: [] };
      throw error;
    });
  const pages = await Promise.all([orNone(first), ...(skip === 0 ? [] : [orNone(first + 1)])]);
  return {
    count: pages[0]!.count,
    results: pages.flatMap(({ results }) => results).slice(skip, skip + PAGE_SIZE),
  };
}

type Mail = Awaited<ReturnType<typeof readMails>>["results"][number];
type Event = Awaited<ReturnType<typeof readEvents>>["results"][number];

const readMails = (visit: CompanyVisit, recipient: string, page: number) =>
  callIn(visit, "tracking.listSentEmails", { recipient, page, page_size: PAGE_SIZE });
const readEvents = (visit: CompanyVisit, recipient: string, page: number) =>
  callIn(visit, "tracking.listEvents", { recipient, page, page_size: PAGE_SIZE });

const ofMail = ({ sent_at, created_at, status, subject, campaign_id, error }: Mail): TimelineEntry => ({
  at: sent_at ?? created_at,
  status,
  what: messages.person.mails[status],
  about: error ? `${subject} – ${error}` : subject,
  href: null,
  campaign: campaign_id,
});

const text = (value: unknown): string => (typeof value === "string" ? value : "");

const ofEvent = ({ timestamp, type, metadata, campaign_id }: Event): TimelineEntry => {
  const { url, bounce_type, reason, diagnostic, error, machine } = metadata as Record<string, unknown>;
  const link = text(url);
  const kind = (messages.bounces.kinds as Record<string, string>)[text(bounce_type)] ?? "";
  const about = [link, kind, text(diagnostic) || text(reason) || text(error)];
  if (machine === true) about.push(messages.person.machine);
  return {
    at: timestamp,
    status: type,
    what: messages.person.events[type],
    about: about.filter((part) => part !== "").join(" – "),
    href: /^https?:\/\//i.test(link) ? link : null,
    campaign: campaign_id,
  };
};

export async function historyOf(visit: CompanyVisit, recipient: string, here: string): Promise<History> {
  const from = { mails: startOf(visit.query.mails), events: startOf(visit.query.events) };
  const [mails, events] = await Promise.all([
    rowsFrom(from.mails, (page) => readMails(visit, recipient, page)),
    rowsFrom(from.events, (page) => readEvents(visit, recipient, page)),
  ]);
  const moments: TimelineEntry[] = [];
  const remaining = { mails: mails.results.map(ofMail), events: events.results.map(ofEvent) };
  const used = { mails: 0, events: 0 };
  while (moments.length < PAGE_SIZE) {
    const [mail, event] = [remaining.mails[used.mails], remaining.events[used.events]];
    if (!mail && !event) break;
    const isMail = !event || (mail !== undefined && mail.at > event.at);
    moments.push(isMail ? mail! : event);
    used[isMail ? "mails" : "events"] += 1;
  }
  const next = { mails: from.mails + used.mails, events: from.events + used.events };
  const hasMore = next.mails < mails.count || next.events < events.count;
  const query = new URLSearchParams({ mails: `${next.mails}`, events: `${next.events}` });
  return {
    moments,
    mails: mails.count,
    events: events.count,
    older: hasMore ? `${here}?${query}#history` : null,
    isNewest: from.mails + from.events === 0,
  };
}
