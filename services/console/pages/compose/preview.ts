/** How the mail of a draft looks to somebody: what can be chosen, and the document in the frame. */
import { isUuid } from "../../../lib/ids.ts";
import { mailFrame } from "../../mail-frame.ts";
import { messages } from "../../messages.ts";
import { type CompanyVisit, callIn } from "../../request.ts";
import { inScheme } from "./colour-scheme.ts";
import { type Body, type Draft, draftPath, ofDraft, receiversIn, textIn } from "./draft.ts";
import { variantsIn } from "./variants.ts";

export const LOOKS = ["desktop", "phone", "dark", "text"] as const;
type Look = (typeof LOOKS)[number];

export interface Chosen {
  /** An address; empty for nobody in particular. */
  person: string;
  variant: number;
  look: Look;
}

export function chosenOf(given: Record<string, string>): Chosen {
  const { person = "", variant = "", look } = given;
  return {
    person,
    variant: /^\d$/.test(variant) ? Number(variant) : 0,
    look: LOOKS.find((one) => one === look) ?? "desktop",
  };
}

export const previewOf = (visit: CompanyVisit, { id }: Draft, { person, variant }: Chosen) =>
  callIn(visit, "campaigns.previewDraft", { id, variant, ...(person === "" ? {} : { email: person }) });

export const previewFrame = ofDraft(async (visit, draft) => {
  const chosen = chosenOf(visit.query);
  const { html, text } = await previewOf(visit, draft, chosen);
  return chosen.look === "text"
    ? { ...mailFrame(text), content_type: "text/plain; charset=utf-8" }
    : mailFrame(inScheme(html, chosen.look === "dark" ? "dark" : "light"));
});

const MAX_PEOPLE = 10;

/**
 * Some of those who get it. Of a segment the company's newest stand for them: which people it holds may take seconds to
 * find out.
 */
async function someOf(visit: CompanyVisit, body: Body, find: string): Promise<string[]> {
  const asked = { page_size: MAX_PEOPLE };
  const emails = ({ results }: { results: { email: string }[] }) => results.map(({ email }) => email);
  if (find !== "") return emails(await callIn(visit, "subscribers.list", { ...asked, search: find }));
  const receivers = receiversIn(body);
  if (receivers.length > 0) return receivers.slice(0, MAX_PEOPLE).map(({ email }) => `${email}`);
  const listId = textIn(body, "list_id");
  return emails(await callIn(visit, "subscribers.list", { ...asked, ...(isUuid(listId) ? { list: listId } : {}) }));
}

/** What the page offers to choose from, and what is chosen. */
export async function previewChoices(visit: CompanyVisit, { id, body }: Draft) {
  const { find = "" } = visit.query;
  const chosen = chosenOf(visit.query);
  const some = await someOf(visit, body, find);
  const people = chosen.person === "" || some.includes(chosen.person) ? some : [chosen.person, ...some];
  const asked = new URLSearchParams({ person: chosen.person, variant: `${chosen.variant}`, look: chosen.look });
  return {
    chosen,
    find,
    people,
    looks: LOOKS,
    variants: variantsIn(body).map(({ letter }) => messages.newCampaign.version(letter)),
    frame: `${draftPath(visit, id, "preview")}?${asked}`,
  };
}
