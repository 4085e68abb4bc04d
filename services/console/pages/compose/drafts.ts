/** Drafts: list of campaigns that are not sent yet. */
import { messages } from "../../messages.ts";
import { askedOf, pagerOf } from "../../pager.ts";
import { type Answer, type CompanyVisit, callIn, companyPath, may } from "../../request.ts";
import { draftsPath } from "./draft.ts";

export async function draftsPage(visit: CompanyVisit): Promise<Answer> {
  const { query } = visit;
  const { results, ...paging } = await callIn(visit, "campaigns.listDrafts", {
    ...askedOf(query),
    ordering: "-updated_at",
  });
  const here = draftsPath(visit);
  return {
    view: "drafts",
    title: messages.newCampaign.drafts,
    values: {
      drafts: results,
      here,
      asked: query,
      pager: pagerOf(here, query, paging),
      mayWrite: may(visit, "campaigns.updateDraft"),
      newPath: companyPath(visit, "campaigns/new"),
    },
  };
}

export async function deleteDraft(visit: CompanyVisit): Promise<Answer> {
  await callIn(visit, "campaigns.removeDraft", { id: visit.params.id! });
  return { goTo: draftsPath(visit), notice: "deleted" };
}
