/** Bounces: where they are read, which messages arrived, the guard that stops campaigns, and results per provider. */
import { INBOUND_RESULTS } from "../../../models/inbound-message.ts";
import { PROVIDERS } from "../../../models/inbound-source.ts";
import { isUuid } from "../../lib/ids.ts";
import { type Errors, orAgain } from "../form-errors.ts";
import { numberOf } from "../form-fields.ts";
import { messages } from "../messages.ts";
import { askedOf, countText, pagerOf } from "../pager.ts";
import { formatted } from "../render.ts";
import { type Answer, type CompanyVisit, callIn, companyPath, may, type Outcome } from "../request.ts";

const t = messages.bounces;

/** Page size for servers and sources, of which no company has as many. */
const ALL = { page_size: 100 };
/** Number of recently ended campaigns to search for stopped ones. */
const MAX_STOPPED = 50;
/** Ways in which bounces arrive: SMTP, IMAP, the API or a provider's webhook. */
const WAYS_IN = ["smtp", "imap", "api", ...PROVIDERS] as const;
const BY_GUARD = "Stopped by the guard:";

type Kind = (typeof INBOUND_RESULTS)[number];

const oneOf = <T extends string>(values: readonly T[], text: string | undefined): T | undefined =>
  values.find((one) => one === text);

/** Filter value that shows only refusals during SMTP sessions. */
const SESSION = "session";
/** Number of refusals shown above the messages. */
const MAX_REFUSALS = 10;

/** Refusals during SMTP sessions. They are events, because no message is received for them. */
async function refusalsOf(visit: CompanyVisit, more: ReturnType<typeof askedOf>) {
  const { results, ...paging } = await callIn(visit, "tracking.listEvents", {
    ...more,
    type: "bounced",
    source: "smtp",
  });
  const rows = results.map(({ recipient, campaign_id, metadata, timestamp }) => {
    const { bounce_type, diagnostic } = metadata as Record<string, unknown>;
    return { recipient, campaign_id, bounce_type, diagnostic, at: timestamp };
  });
  return { rows, paging };
}

/** A tab of the page, with what both have. */
function tabOf(visit: CompanyVisit, tab: "bounces" | "bounces-settings", values: Record<string, unknown>): Answer {
  const here = companyPath(visit, "bounces");
  const tabs = [
    { label: t.recent, href: here, current: tab === "bounces" },
    { label: t.settings, href: `${here}/settings`, current: tab !== "bounces" },
  ];
  const common = { tabs, here, waysIn: { ...t.vias, ...t.providers }, campaigns: companyPath(visit, "campaigns") };
  return { view: tab, title: t.title, values: { ...common, ...values } };
}

export async function bouncesPage(visit: CompanyVisit): Promise<Answer> {
  const { query } = visit;
  const result = oneOf<Kind>(INBOUND_RESULTS, query.result);
  const via = oneOf(WAYS_IN, query.via);
  const isSession = query.via === SESSION;
  const [refused, inbound] = await Promise.all([
    refusalsOf(visit, isSession ? askedOf(query) : { page: 1, page_size: MAX_REFUSALS }),
    isSession
      ? undefined
      : callIn(visit, "bounces.listInbound", {
          ...askedOf(query),
          ...(result ? { result } : {}),
          ...(via ? { via } : {}),
        }),
  ]);
  return tabOf(visit, "bounces", {
    refusals: result || query.search ? [] : refused.rows,
    refusalsCount: countText(refused.paging.count, refused.paging.count_estimated),
    hasMoreRefusals: refused.paging.next !== null,
    isSession,
    isFiltered: Boolean(result || via || isSession || query.search),
    inbound: inbound?.results ?? [],
    asked: query,
    subscribers: companyPath(visit, "subscribers"),
    pager: pagerOf(companyPath(visit, "bounces"), query, inbound ?? refused.paging),
  });
}

async function showSettings(visit: CompanyVisit, errors: Errors = {}): Promise<Answer> {
  const [sources, servers, { guard }, partial] = await Promise.all([
    callIn(visit, "bounces.listSources", ALL),
    callIn(visit, "smtp-sender.listConfigs", { ...ALL, ordering: "name" }),
    callIn(visit, "accounts.getCompany", { id: visit.company.id }),
    callIn(visit, "campaigns.list", { status: "partial", page_size: MAX_STOPPED }),
  ]);
  return tabOf(visit, "bounces-settings", {
    sources: sources.results,
    servers: servers.results,
    isRead:
      sources.count > 0 ||
      servers.results.some(({ bounce_address, bounce_mailbox }) => bounce_address || bounce_mailbox),
    guard,
    stopped: partial.results.filter(({ error }) => error?.startsWith(BY_GUARD)),
    typed: visit.form,
    errors,
    serversPath: companyPath(visit, "servers"),
    mayWrite: may(visit, "bounces.createSource"),
  });
}

export const bouncesSettingsPage = (visit: CompanyVisit): Promise<Answer> => showSettings(visit);

const settingsPath = (visit: CompanyVisit): string => companyPath(visit, "bounces/settings");

export const makeSource = (visit: CompanyVisit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      const { provider = "", secret = "", smtp_config_id } = visit.form;
      await callIn(visit, "bounces.createSource", {
        provider: provider as (typeof PROVIDERS)[number],
        ...(secret === "" ? {} : { secret }),
        ...(isUuid(smtp_config_id) ? { smtp_config_id } : {}),
      });
      return { goTo: settingsPath(visit), notice: "saved" };
    },
    (errors) => showSettings(visit, errors),
  );

export async function removeSource(visit: CompanyVisit): Promise<Answer> {
  await callIn(visit, "bounces.removeSource", { id: visit.params.id! });
  return { goTo: settingsPath(visit), notice: "deleted" };
}

export const setGuard = (visit: CompanyVisit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      const { hard_bounce_percent = "", complaint_percent = "", after = "" } = visit.form;
      const guard = {
        hard_bounce_percent: numberOf(hard_bounce_percent),
        complaint_percent: numberOf(complaint_percent),
        after: numberOf(after),
      };
      await callIn(visit, "accounts.updateCompany", { id: visit.company.id, guard });
      return { goTo: settingsPath(visit), notice: "saved" };
    },
    (errors) => showSettings(visit, errors),
  );

/** Returns the raw message as a download, which no browser opens as a page. */
export const rawMessage = (visit: CompanyVisit): Promise<Answer> =>
  callIn(visit, "bounces.inboundRaw", { id: visit.params.id! });

const DAYS = [7, 30, 90] as const;

export async function recipientDomainsPage(visit: CompanyVisit): Promise<Answer> {
  const days = DAYS.find((n) => `${n}` === visit.query.days) ?? 30;
  // Counting reads all mails of these days and can take a second, so the page requests it separately.
  const isCounted = visit.query.count === "yes";
  const [domains, slow, servers] = await Promise.all([
    isCounted ? callIn(visit, "tracking.domainStats", { days }) : undefined,
    callIn(visit, "smtp-sender.listSlowDomains", {}),
    callIn(visit, "smtp-sender.listConfigs", ALL),
  ]);
  const nameOf = (id: string) => servers.results.find((server) => server.id === id)?.name ?? "";
  return {
    view: "recipient-domains",
    title: messages.recipientDomains.title,
    values: {
      domains,
      slow: slow.map(({ smtp_config_id, per_minute, ...one }) => ({
        ...one,
        pace: messages.recipientDomains.slowRow(formatted(per_minute), nameOf(smtp_config_id)),
      })),
      days,
      here: companyPath(visit, "recipient-domains"),
    },
  };
}
