/** Content of a campaign and its clicks, as a list of links and on the mail itself. */
import type { ReturnsOf } from "../../contracts.ts";
import { withMarks } from "../link-marks.ts";
import { mailFrame } from "../mail-frame.ts";
import { messages } from "../messages.ts";
import { formatted } from "../render.ts";
import { type Answer, type CompanyVisit, callIn } from "../request.ts";
import { campaignId, campaignPath, tabsOf } from "./campaign-place.ts";

const t = messages.campaigns.mail;

function requestedVariant(visit: CompanyVisit) {
  const { variant = "" } = visit.query;
  return { id: campaignId(visit), ...(/^[0-4]$/.test(variant) ? { variant: Number(variant) } : {}) };
}

/** Chooses which mail of an A/B test is shown: the requested one, else the winner, else the first. */
function shownVariant({ variants, winner }: ReturnsOf<"campaigns.get">, wanted: number | undefined) {
  return variants.length === 0 ? undefined : (wanted ?? winner?.index ?? 0);
}

/** Number of people who clicked, or of clicks if clicks cannot be assigned to people. */
const clicksOf = ({ unique, total }: { unique: number | null; total: number }): number => unique ?? total;

export async function mailPage(visit: CompanyVisit): Promise<Answer> {
  const { id, variant: wanted } = requestedVariant(visit);
  const [campaign, { links, delivered }] = await Promise.all([
    callIn(visit, "campaigns.get", { id }),
    callIn(visit, "tracking.analytics", { id }),
  ]);
  const here = campaignPath(visit, "mail");
  const variant = shownVariant(campaign, wanted);
  return {
    view: "campaign-mail",
    title: t.title(campaign.name),
    values: {
      campaign,
      delivered,
      links: links
        .map((link) => ({ ...link, clicks: clicksOf(link) }))
        .toSorted((a, b) => b.clicks - a.clicks || b.total - a.total),
      isPeople: campaign.clicks !== null,
      variants: campaign.variants.map(({ index }) => ({
        label: messages.campaigns.variantName(index),
        href: `${here}?variant=${index}`,
        current: index === variant,
      })),
      frame: campaignPath(visit, `mail/frame${variant === undefined ? "" : `?variant=${variant}`}`),
      tabs: tabsOf(visit, "mail"),
    },
  };
}

/** Returns the mail as a document for the page's frame. */
export async function mailFramePage(visit: CompanyVisit): Promise<Answer> {
  const [{ html }, { links, delivered }] = await Promise.all([
    callIn(visit, "renderer.campaignContent", requestedVariant(visit)),
    callIn(visit, "tracking.analytics", { id: requestedVariant(visit).id }),
  ]);
  const clicks = new Map(links.map((link) => [link.url, clicksOf(link)]));
  const mark = (href: string): string | undefined => {
    const n = clicks.get(href);
    if (n === undefined) return undefined;
    return delivered > 0 ? t.markOf(formatted(n), ((100 * n) / delivered).toFixed(1)) : formatted(n);
  };
  return mailFrame(withMarks(html, mark));
}
