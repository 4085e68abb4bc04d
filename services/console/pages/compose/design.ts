/** A campaign's own content in the visual editor: choice of a starter, the editor's page, and its saves as JSON. */
import type { RawResponse } from "../../contract.ts";
import { messages } from "../../messages.ts";
import type { CompanyVisit } from "../../request.ts";
import { asJson } from "../media.ts";
import { starterOf, startersFor } from "../starters.ts";
import { documentOf, editorPage, refused } from "../visual-editor.ts";
import {
  type Body,
  checkErrors,
  contentIn,
  type Draft,
  draftPath,
  draftsPath,
  errorsOf,
  isObject,
  nextPath,
  ofDraft,
  saveDraft,
  textIn,
  withoutUnset,
} from "./draft.ts";

export const draftStarters = ofDraft(async (visit, { id }) => {
  const here = draftPath(visit, id, "visual");
  const paths = { empty: here, html: draftPath(visit, id, "what"), use: (from: string) => `${here}?from=${from}` };
  return startersFor(visit, messages.newCampaign.startDesign, paths);
});

export const draftVisualPage = ofDraft(async (visit, { id, name, body, updated_at }) => {
  const content = contentIn(body);
  const starter = starterOf(visit.query.from);
  const textOf = (field: "subject" | "preheader") => textIn(content, field) || (starter?.[field] ?? "");
  const what = draftPath(visit, id, "what");
  return editorPage(visit, name, {
    isCampaign: true,
    id,
    seen: updated_at,
    mail: {
      name,
      subject: textOf("subject"),
      preheader: textOf("preheader"),
      template_type: body.is_transactional === true ? "transactional" : "marketing",
    },
    design: starter?.design ?? (isObject(content.design) ? content.design : null),
    paths: { root: draftsPath(visit), close: what, html: what, make: what },
  });
});

/** Fields of the content that the editor can change. */
const EDITED = ["subject", "preheader", "design"];

/** Saves whatever the editor has; an automatic save reports no faults. */
export const saveDraftVisual = ofDraft(async (visit: CompanyVisit, draft: Draft): Promise<RawResponse> => {
  const given = documentOf(visit);
  if (!given) return refused({ design: [messages.visual.problems.away] });
  const { body: _, ...kept } = contentIn(draft.body);
  const { subject, preheader, design } = given;
  const content: Body = { ...kept, subject: subject.trim() || undefined, preheader: preheader ?? undefined, design };
  const saved = await saveDraft(visit, draft, { template_id: undefined, content: withoutUnset(content) });
  const faults = visit.form.auto === undefined ? await checkErrors(visit, saved) : {};
  const errors = Object.entries(errorsOf("what", faults)).filter(([field]) => EDITED.includes(field));
  if (errors.length > 0) return refused(Object.fromEntries(errors));
  const { id, updated_at } = saved;
  return asJson({ id, updated_at, here: draftPath(visit, id, "visual"), next: nextPath(visit, saved, faults) });
});
