/** Campaigns: the list, one of them, and what can be done with it. */
import { CAMPAIGN_STATUSES, isOver } from "../../../models/campaign.ts";
import { messages } from "../messages.ts";
import { askedOf, pagerOf } from "../pager.ts";
import { formatted } from "../render.ts";
import { type Answer, type CompanyVisit, callIn, companyPath, may } from "../request.ts";

type Status = (typeof CAMPAIGN_STATUSES)[number];

const statusOf = (text: string | undefined): Status | undefined => CAMPAIGN_STATUSES.find((one) => one === text);

export async function campaignsPage(visit: CompanyVisit): Promise<Answer> {
  const { query } = visit;
  const status = statusOf(query.status);
  const asked = { ...askedOf(query), ...(status ? { status } : {}) };
  const { count, results } = await callIn(visit, "campaigns.list", asked);
  const path = companyPath(visit, "campaigns");
  return {
    view: "campaigns",
    title: messages.campaigns.title,
    values: {
      campaigns: results,
      here: path,
      statuses: CAMPAIGN_STATUSES,
      asked: query,
      pager: pagerOf(path, query, count),
      newPath: may(visit, "campaigns.createDraft") ? companyPath(visit, "campaigns/new") : null,
    },
  };
}

interface Operation {
  name: "stop" | "resume" | "cancel" | "delete";
  button: string;
  hint: string;
  path: string;
}

type Campaign = Awaited<ReturnType<typeof read>>;

const read = (visit: CompanyVisit) => callIn(visit, "campaigns.get", { id: visit.params.id! });

/** What may be done with it in its state, by this person; each with what it will do. */
function operationsOf(visit: CompanyVisit, campaign: Campaign): Operation[] {
  const { status, total_emails, sent_count, failed_count } = campaign;
  const t = messages.campaigns;
  const left = formatted(Math.max(0, total_emails - sent_count - failed_count));
  const isResumable = status === "partial" || (status === "failed" && sent_count > 0);
  const operations = [
    {
      name: "stop",
      action: "campaigns.stop",
      fits: status === "pending" || status === "sending",
      hint: sent_count > 0 ? t.stopHint(left) : t.stopAllHint,
    },
    { name: "resume", action: "campaigns.resume", fits: isResumable, hint: t.resumeHint(formatted(failed_count)) },
    { name: "cancel", action: "campaigns.cancel", fits: status === "scheduled", hint: t.cancelHint },
    { name: "delete", action: "campaigns.remove", fits: isOver(status), hint: t.deleteHint(formatted(total_emails)) },
  ] as const;
  return operations
    .filter(({ fits, action }) => fits && may(visit, action))
    .map(({ name, hint }) => ({
      name,
      hint,
      button: t[name],
      path: companyPath(visit, `campaigns/${campaign.id}/${name}`),
    }));
}

export async function campaignPage(visit: CompanyVisit): Promise<Answer> {
  const { id = "" } = visit.params;
  const campaign = await read(visit);
  const [analytics, failures] = await Promise.all([
    callIn(visit, "tracking.analytics", { id }),
    callIn(visit, "campaigns.failures", { id }),
  ]);
  return {
    view: "campaign",
    title: campaign.name,
    values: { campaign, analytics, failures, operations: operationsOf(visit, campaign) },
  };
}

const thenShow =
  (action: "campaigns.stop" | "campaigns.resume" | "campaigns.cancel") =>
  async (visit: CompanyVisit): Promise<Answer> => {
    const { id } = await callIn(visit, action, { id: visit.params.id! });
    return { goTo: companyPath(visit, `campaigns/${id}`) };
  };

export const stopCampaign = thenShow("campaigns.stop");
export const resumeCampaign = thenShow("campaigns.resume");
export const cancelCampaign = thenShow("campaigns.cancel");

export async function deleteCampaign(visit: CompanyVisit): Promise<Answer> {
  await callIn(visit, "campaigns.remove", { id: visit.params.id! });
  return { goTo: companyPath(visit, "campaigns") };
}
