/**
 * The content of a campaign, or of a version of its A/B test, in the visual editor: choice of a starter, the editor's
 * page, and its saves as JSON.
 */
import { createHash } from "node:crypto";
import { canonicalJson } from "../../../lib/canonical-json.ts";
import { isUuid } from "../../../lib/ids.ts";
import type { RawResponse } from "../../contract.ts";
import { asJson } from "../../json-answer.ts";
import { messages } from "../../messages.ts";
import { type Answer, type CompanyVisit, callIn } from "../../request.ts";
import { timeOf } from "../../times.ts";
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
  errorsOfVersion,
  isObject,
  letterOf,
  nextPath,
  ofDraft,
  orNothing,
  saveDraft,
  textIn,
  withoutUnset,
} from "./draft.ts";
import { sourceOf, versionsOf } from "./variants.ts";

/** Content that the editor edits, and where it is stored. */
interface Place {
  /** Path before the id, below which the editor is. */
  root: string;
  id: string;
  /** Number of the version; absent for the campaign's own content. */
  version?: number;
  content: Body;
  /** Identifies the content, so that a save replaces only what the editor showed. */
  seen: string;
  /** Path of the step that shows it. */
  what: string;
  stored(content: Body): Body;
}

const seenOf = ({ subject, preheader, body, design }: Body, template: unknown): string =>
  createHash("sha256")
    .update(canonicalJson([subject, preheader, body, design, template]))
    .digest("base64url");

/** Undefined if the draft has no such version any more. */
function placeOf(visit: CompanyVisit, { id, body }: Draft): Place | undefined {
  const { version: asked } = visit.params;
  const what = draftPath(visit, id, "what");
  if (asked === undefined) {
    const stored = (content: Body) => ({ template_id: undefined, content });
    const content = contentIn(body);
    return { root: draftsPath(visit), id, content, seen: seenOf(content, body.template_id), what, stored };
  }
  const versions = versionsOf(body);
  const version = versions.findIndex((_, n) => `${n}` === asked);
  if (version < 0) return undefined;
  const { template_id, subject, ...shares } = versions[version]!;
  const content = { ...withoutUnset({ subject }), ...(isObject(shares.content) ? shares.content : {}) };
  return {
    root: draftPath(visit, id, "versions"),
    id: asked,
    version,
    content,
    seen: seenOf(content, template_id),
    what: `${what}#version-${asked}`,
    stored: (changed) => ({ variants: versions.with(version, { ...shares, content: changed }) }),
  };
}

const nameOf = (name: string, version: number | undefined): string =>
  version === undefined ? name : `${name}: ${messages.newCampaign.version(letterOf(version))}`;

/** Content of version A, to begin another version with; undefined if it has no design. */
async function contentOfFirst(visit: CompanyVisit, { body }: Draft): Promise<Body | undefined> {
  const { template_id, ...written } = sourceOf(body, 0);
  const template = isUuid(template_id)
    ? await orNothing(callIn(visit, "renderer.getTemplate", { id: `${template_id}` }))
    : undefined;
  const content: Body = { ...template, ...written };
  return isObject(content.design) ? content : undefined;
}

/** Value of the query parameter `from` that begins with a copy of version A, beside the ids of starters. */
const FIRST = "version-a";

export const draftStarters = ofDraft(async (visit, draft): Promise<Answer> => {
  const place = placeOf(visit, draft);
  if (!place) return { goTo: draftPath(visit, draft.id, "what") };
  const here = `${place.root}/${place.id}/visual`;
  const copy = place.version && (await contentOfFirst(visit, draft)) ? `${here}?from=${FIRST}` : undefined;
  const paths = { empty: here, html: place.what, use: (from: string) => `${here}?from=${from}`, ...(copy && { copy }) };
  return startersFor(visit, nameOf(messages.newCampaign.startDesign, place.version), paths);
});

export const draftVisualPage = ofDraft(async (visit, draft): Promise<Answer> => {
  const { id, name, body } = draft;
  const place = placeOf(visit, draft);
  if (!place) return { goTo: draftPath(visit, id, "what") };
  const { content, seen, version, root, what } = place;
  const { from } = visit.query;
  const start: Body | undefined = from === FIRST ? await contentOfFirst(visit, draft) : { ...starterOf(from) };
  const textOf = (field: "subject" | "preheader") => textIn(content, field) || textIn(start ?? {}, field);
  const title = nameOf(name, version);
  return editorPage(visit, title, {
    isCampaign: true,
    id: place.id,
    seen,
    mail: {
      name: title,
      subject: textOf("subject"),
      preheader: textOf("preheader"),
      template_type: body.is_transactional === true ? "transactional" : "marketing",
    },
    design: [start?.design, content.design].find(isObject) ?? null,
    paths: { root, close: what, html: what, make: what },
  });
});

/** Fields of the content that the editor can change. */
const EDITED = ["subject", "preheader", "design"];

/** Saves whatever the editor has; an automatic save reports no faults. */
export const saveDraftVisual = ofDraft(async (visit: CompanyVisit, draft: Draft): Promise<RawResponse> => {
  const given = documentOf(visit);
  const place = placeOf(visit, draft);
  if (!given || !place) return refused({ design: [messages.visual.problems[given ? "gone" : "away"]] });
  const { version, root, what } = place;
  const { body: _, ...kept } = place.content;
  const { subject, preheader, design } = given;
  const content = withoutUnset({
    ...kept,
    subject: subject.trim() || undefined,
    preheader: preheader ?? undefined,
    design,
  });
  const here = `${root}/${place.id}/visual`;
  const seen = seenOf(content, undefined);
  const { unchanged_since: since = place.seen } = given;
  // A save whose answer was lost comes again with the content that it stored.
  if (since !== place.seen && seen !== place.seen) {
    const at = timeOf(draft.updated_at, visit.company.timezone);
    return asJson({ who: null, at, theirs: here, seen: place.seen }, 409);
  }
  const saved = await saveDraft(visit, draft, place.stored(content));
  const faults = visit.form.auto === undefined ? await checkErrors(visit, saved) : {};
  const ours = version === undefined ? errorsOf("what", faults) : errorsOfVersion(version, faults);
  const errors = Object.entries(ours).filter(([field]) => EDITED.includes(field));
  // The content with the errors is stored.
  if (errors.length > 0) return asJson({ errors: Object.fromEntries(errors), seen }, 400);
  // Other versions may have to be written.
  const next = version === undefined ? nextPath(visit, saved, faults) : what;
  return asJson({ id: place.id, seen, here, next });
});
