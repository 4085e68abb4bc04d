/** Preview of a draft's mail for a chosen reader: the choices, and the document in the frame. */
import { mailFrame } from "../../mail-frame.ts";
import { lookOf, VIEWS, type View, viewOf } from "../../mail-look.ts";
import { messages } from "../../messages.ts";
import { type CompanyVisit, callIn } from "../../request.ts";
import { type Body, type Draft, draftPath, ofDraft, receiversIn, textIn } from "./draft.ts";
import { variantsIn } from "./variants.ts";

interface PreviewChoice {
  /** Address of the chosen reader; empty for a sample reader. */
  person: string;
  variant: number;
  look: View;
}

export function previewChoiceOf(given: Record<string, string>): PreviewChoice {
  const { person = "", variant = "", look } = given;
  return {
    person,
    variant: /^\d$/.test(variant) ? Number(variant) : 0,
    look: viewOf(look),
  };
}

export const previewOf = (visit: CompanyVisit, { id }: Draft, { person, variant }: PreviewChoice) =>
  callIn(visit, "campaigns.previewDraft", { id, variant, ...(person === "" ? {} : { email: person }) });

export const previewFrame = ofDraft(async (visit, draft) => {
  const chosen = previewChoiceOf(visit.query);
  return mailFrame(lookOf(await previewOf(visit, draft, chosen), chosen.look));
});

const MAX_PEOPLE = 10;

/** Number of newest subscribers to search for members of the list. */
const MAX_NEWEST = 50;

/**
 * Offers some recipients: members of the list among the company's newest subscribers, otherwise any subscribers.
 * Finding members of a segment or the newest members of a large list takes too long.
 */
async function sampleRecipients(visit: CompanyVisit, body: Body, find: string): Promise<string[]> {
  const emails = (people: { email: string }[]) => people.slice(0, MAX_PEOPLE).map(({ email }) => email);
  if (find !== "") {
    return emails((await callIn(visit, "subscribers.list", { page_size: MAX_PEOPLE, search: find })).results);
  }
  const receivers = receiversIn(body);
  if (receivers.length > 0) return receivers.slice(0, MAX_PEOPLE).map(({ email }) => `${email}`);
  const { results } = await callIn(visit, "subscribers.list", { page_size: MAX_NEWEST });
  const onList = results.filter(({ lists }) => lists.includes(textIn(body, "list_id")));
  return emails(onList.length > 0 ? onList : results);
}

/** Choices of the preview and the current selection. */
export async function previewChoices(visit: CompanyVisit, { id, body }: Draft) {
  const { find = "" } = visit.query;
  const chosen = previewChoiceOf(visit.query);
  const some = await sampleRecipients(visit, body, find);
  const people = chosen.person === "" || some.includes(chosen.person) ? some : [chosen.person, ...some];
  const asked = new URLSearchParams({ person: chosen.person, variant: `${chosen.variant}`, look: chosen.look });
  return {
    chosen,
    find,
    people,
    looks: VIEWS,
    variants: variantsIn(body).map(({ letter }) => messages.newCampaign.version(letter)),
    frame: `${draftPath(visit, id, "preview")}?${asked}`,
  };
}
