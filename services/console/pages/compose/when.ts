/** Fourth step: now, at a time of the company's clock, or at an hour of each reader's. */
import { type Errors, orAgain } from "../../form-errors.ts";
import { messages } from "../../messages.ts";
import { type Answer, type CompanyVisit, callIn } from "../../request.ts";
import {
  afterSaving,
  askedFor,
  type Body,
  type Draft,
  draftPath,
  ofDraft,
  saveDraft,
  stepsOf,
  textIn,
} from "./draft.ts";
import { clockAt, instantOf, isClock } from "./zone-time.ts";

export type When = "now" | "at" | "local";

export function whenIn(body: Body): When {
  if (textIn(body, "scheduled_for") === "") return "now";
  return body.timezone === "recipient" ? "local" : "at";
}

/** As a field for date and time shows it: the company's clock, or the one that is the same for all readers. */
export function clockIn(body: Body, zone: string): string {
  const scheduled = textIn(body, "scheduled_for");
  if (body.timezone === "recipient") return isClock(scheduled.slice(0, 16)) ? scheduled.slice(0, 16) : "";
  const instant = new Date(scheduled);
  return Number.isNaN(instant.getTime()) ? "" : clockAt(instant, zone);
}

export const zoneOf = async (visit: CompanyVisit): Promise<string> =>
  (await callIn(visit, "accounts.getCompany", { id: visit.company.id })).timezone;

async function show(visit: CompanyVisit, draft: Draft, errors: Errors = {}): Promise<Answer> {
  const zone = await zoneOf(visit);
  const { body, kind } = draft;
  return {
    view: "new-campaign-when",
    title: messages.newCampaign.titles.when,
    values: {
      steps: stepsOf(visit, draft.id, "when"),
      here: draftPath(visit, draft.id, "when"),
      when: visit.form.when ?? whenIn(body),
      clock: visit.form.clock ?? clockIn(body, zone),
      now: clockAt(new Date(), zone),
      zone,
      mayWait: kind !== "custom",
      mayBeLocal: kind === "to-list" && body.variants === undefined,
      errors,
      isSaved: askedFor(visit) === "autosave",
    },
  };
}

export const whenPage = ofDraft((visit, draft) => show(visit, draft));

/** A clock that is none is kept as it was typed, for the API to refuse. */
function changesOf({ form }: CompanyVisit, zone: string): Body {
  const { when = "now", clock = "" } = form;
  if (when === "now") return { scheduled_for: undefined, timezone: undefined };
  if (when === "local")
    return { scheduled_for: isClock(clock) ? `${clock.slice(0, 16)}:00Z` : clock, timezone: "recipient" };
  const at = isClock(clock) ? instantOf(clock, zone).toISOString() : clock;
  return { scheduled_for: at, timezone: undefined };
}

export const saveWhen = ofDraft((visit, draft) => {
  let saved = draft;
  return orAgain(
    async () => {
      saved = await saveDraft(visit, draft, changesOf(visit, await zoneOf(visit)));
      return afterSaving(visit, saved, "when", (now, errors) => show(visit, now, errors));
    },
    (errors) => show(visit, saved, errors),
  );
});
