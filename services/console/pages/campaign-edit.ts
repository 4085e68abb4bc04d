/** A campaign that waits for its time: what of it can still be changed. */
import type { ParamsOf, ReturnsOf } from "../../contracts.ts";
import { requirePermission } from "../../permissions.ts";
import { type Errors, orAgain } from "../form-errors.ts";
import { messages } from "../messages.ts";
import { type Answer, type CompanyVisit, callIn, type Outcome } from "../request.ts";
import { campaignId, campaignPath } from "./campaign-place.ts";

type Campaign = ReturnsOf<"campaigns.get">;
type Changes = Omit<ParamsOf<"campaigns.update">, "id">;

/** Of each that can be chosen; what a company has beyond them is chosen by the API. */
const MAX_CHOICES = 100;
const CHOICES = { page_size: MAX_CHOICES, ordering: "name" };

const read = (visit: CompanyVisit) => callIn(visit, "campaigns.get", { id: campaignId(visit) });

/** As a field of the kind datetime-local has it. */
const minuteOf = (iso: string): string => iso.slice(0, 16);

/** Also of the page: a form that nobody may send is none. */
const requireEditor = ({ company: { role } }: CompanyVisit) => requirePermission("campaigns.update", { role });

async function showForm(visit: CompanyVisit, errors: Errors = {}): Promise<Answer> {
  requireEditor(visit);
  const [campaign, templates, lists, segments] = await Promise.all([
    read(visit),
    callIn(visit, "renderer.listTemplates", CHOICES),
    callIn(visit, "subscribers.listLists", CHOICES),
    callIn(visit, "subscribers.listSegments", CHOICES),
  ]);
  return {
    view: "campaign-edit",
    title: messages.campaigns.edit.title(campaign.name),
    values: {
      campaign,
      errors,
      typed: {
        name: campaign.name,
        subject: campaign.subject,
        scheduled_for: minuteOf(campaign.scheduled_for ?? ""),
        ...visit.form,
      },
      templates: templates.results,
      lists: lists.results,
      segments: segments.results,
      isToList: campaign.campaign_type === "to_list",
      isScheduled: campaign.status === "scheduled",
      here: campaignPath(visit, "edit"),
      campaignPath: campaignPath(visit),
    },
  };
}

export const editPage = (visit: CompanyVisit): Promise<Answer> => showForm(visit);

const AUDIENCE = /^(list|segment):([0-9a-f-]{36})$/i;

/** What differs from the campaign alone: a field that is sent as it was could take away what a variant has. */
export function changesOf(form: Record<string, string>, campaign: Campaign): Changes {
  const { name = "", subject = "", scheduled_for = "", template = "", audience = "" } = form;
  const [, kind, id] = AUDIENCE.exec(audience) ?? [];
  const isNewTime = scheduled_for !== "" && scheduled_for !== minuteOf(campaign.scheduled_for ?? "");
  return {
    ...(name === campaign.name ? {} : { name }),
    ...(subject === campaign.subject ? {} : { subject }),
    ...(isNewTime ? { scheduled_for: `${scheduled_for.slice(0, 16)}:00Z` } : {}),
    ...(template === "" ? {} : { template_id: template }),
    ...(kind === "list" ? { list_id: id! } : kind === "segment" ? { segment_id: id! } : {}),
  };
}

export const editCampaign = (visit: CompanyVisit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      requireEditor(visit);
      const campaign = await read(visit);
      const { id } = await callIn(visit, "campaigns.update", { id: campaign.id, ...changesOf(visit.form, campaign) });
      return { goTo: campaignPath({ ...visit, params: { id } }), notice: "saved" };
    },
    (errors) => showForm(visit, errors),
  );
