/** Edits what can still be changed in a scheduled campaign. */
import type { ParamsOf, ReturnsOf } from "../../contracts.ts";
import { htmlOfTyped, typedTextOf } from "../../lib/made-html/typed-text.ts";
import { requirePermission } from "../../permissions.ts";
import { type Errors, orAgain } from "../form-errors.ts";
import { messages } from "../messages.ts";
import { type Answer, type CompanyVisit, callIn, callUnder, type Outcome } from "../request.ts";
import { campaignId, campaignPath } from "./campaign-place.ts";
import { isClock } from "./compose/when.ts";

type Campaign = ReturnsOf<"campaigns.get">;
type Changes = Omit<ParamsOf<"campaigns.update">, "id">;

/** Maximum choices per field; a company with more uses the API. */
const MAX_CHOICES = 100;
const CHOICES = { page_size: MAX_CHOICES, ordering: "name" };

type OwnText = Pick<ReturnsOf<"campaigns.ownText">, "body" | "preheader">;

const ownTextOf = (visit: CompanyVisit) => callUnder(visit, "campaigns.ownText", { id: campaignId(visit) });

const readCampaign = (visit: CompanyVisit) => callIn(visit, "campaigns.get", { id: campaignId(visit) });

/**
 * Value of the datetime-local field: in the company's time zone, or the local time that is the same for all recipients.
 */
async function clockOf(visit: CompanyVisit, { scheduled_for, timezone }: Campaign): Promise<string> {
  if (scheduled_for === null || timezone === "recipient") return (scheduled_for ?? "").slice(0, 16);
  const { clocks } = await callUnder(visit, "accounts.clocksAt", { instants: [scheduled_for] });
  return clocks[0]!.slice(0, 16);
}

/** Also guards the page: people who may not send the form do not see it. */
const requireEditor = ({ company: { role } }: CompanyVisit) => requirePermission("campaigns.update", { role });

async function showForm(visit: CompanyVisit, errors: Errors = {}): Promise<Answer> {
  requireEditor(visit);
  const [campaign, own, templates, lists, segments] = await Promise.all([
    readCampaign(visit),
    ownTextOf(visit),
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
        preheader: own.preheader ?? "",
        body: own.body === null ? null : typedTextOf(own.body),
        scheduled_for: await clockOf(visit, campaign),
        ...visit.form,
      },
      templates: templates.results,
      lists: lists.results,
      segments: segments.results,
      zone: visit.company.timezone,
      isWritten: own.body !== null,
      isDesigned: own.design !== null,
      isToList: campaign.campaign_type === "to_list",
      isScheduled: campaign.status === "scheduled",
      here: campaignPath(visit, "edit"),
      campaignPath: campaignPath(visit),
    },
  };
}

export const editPage = (visit: CompanyVisit): Promise<Answer> => showForm(visit);

/** Browsers send line breaks as CRLF. */
const withoutReturns = (text: string) => text.replaceAll("\r\n", "\n").trim();

const AUDIENCE = /^(list|segment):([0-9a-f-]{36})$/i;

/** Returns only changed fields: an unchanged field in the request could remove settings of a variant. */
export function changesOf(
  form: Record<string, string>,
  campaign: Campaign,
  { body: before, preheader: peek }: OwnText = { body: null, preheader: null },
): Changes {
  const { name = "", subject = "", template = "", audience = "" } = form;
  const body = htmlOfTyped(form.body ?? before ?? "");
  const preheader = (form.preheader ?? peek ?? "").trim();
  const [, kind, id] = AUDIENCE.exec(audience) ?? [];
  return {
    ...(name === campaign.name ? {} : { name }),
    ...(subject === campaign.subject ? {} : { subject }),
    ...(before === null || preheader === (peek ?? "").trim() ? {} : { preheader: preheader || null }),
    ...(before === null || template !== "" || withoutReturns(body) === withoutReturns(before) ? {} : { body }),
    ...(template === "" ? {} : { template_id: template }),
    ...(kind === "list" ? { list_id: id! } : kind === "segment" ? { segment_id: id! } : {}),
  };
}

/** Passes invalid times to the API as typed. */
async function newTimeOf(visit: CompanyVisit, campaign: Campaign): Promise<Changes> {
  const { scheduled_for: clock = "" } = visit.form;
  if (clock === "" || clock === (await clockOf(visit, campaign))) return {};
  if (!isClock(clock)) return { scheduled_for: clock };
  if (campaign.timezone === "recipient") return { scheduled_for: `${clock.slice(0, 16)}:00Z` };
  return { scheduled_for: await callUnder(visit, "accounts.instantOf", { clock }) };
}

export const editCampaign = (visit: CompanyVisit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      requireEditor(visit);
      const campaign = await readCampaign(visit);
      const changes = {
        ...changesOf(visit.form, campaign, await ownTextOf(visit)),
        ...(await newTimeOf(visit, campaign)),
      };
      const { id } = await callIn(visit, "campaigns.update", { id: campaign.id, ...changes });
      return { goTo: campaignPath({ ...visit, params: { id } }), notice: "saved" };
    },
    (errors) => showForm(visit, errors),
  );
