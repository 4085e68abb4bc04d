/** Fourth step: send now, at a time in the company's time zone, or at a local time of each reader. */
import { invalid } from "../../../lib/errors.ts";
import { type Errors, orAgain } from "../../form-errors.ts";
import { messages } from "../../messages.ts";
import { type Answer, type CompanyVisit, callUnder } from "../../request.ts";
import {
  afterSaving,
  type Body,
  type Draft,
  draftPath,
  ofDraft,
  pressedButton,
  saveDraft,
  stepsOf,
  textIn,
} from "./draft.ts";

const CLOCK = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/;

/** Returns whether a text is a value of a datetime-local field. */
export function isClock(text: string): boolean {
  const at = new Date(CLOCK.test(text) ? `${text}Z` : Number.NaN);
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text);
}

/** Years that every time zone can show with four digits. */
const isInYears = (year: number): boolean => year >= 2 && year <= 9998;
const MIN_YEAR = 2000;

export type When = "now" | "at" | "local";

export function whenIn(body: Body): When {
  if (textIn(body, "scheduled_for") === "") return "now";
  return body.timezone === "recipient" ? "local" : "at";
}

/**
 * Value of the datetime-local field: in the company's time zone, or the local time that is the same for all readers.
 */
function clockIn(body: Body, ofCompany: string | undefined): string {
  const scheduled = textIn(body, "scheduled_for");
  if (body.timezone === "recipient") return isClock(scheduled.slice(0, 16)) ? scheduled.slice(0, 16) : "";
  return ofCompany ?? "";
}

/** Returns the company's time zone, its current local time, and the draft's time. */
export async function clocksOf(visit: CompanyVisit, body: Body): Promise<{ zone: string; now: string; clock: string }> {
  const instant = new Date(textIn(body, "scheduled_for"));
  const isInstant = body.timezone !== "recipient" && isInYears(instant.getUTCFullYear());
  const instants = [new Date(), ...(isInstant ? [instant] : [])].map((at) => at.toISOString());
  const { timezone, clocks } = await callUnder(visit, "accounts.clocksAt", { instants });
  const [now, scheduled] = clocks.map((clock) => clock.slice(0, 16));
  return { zone: timezone, now: now!, clock: clockIn(body, scheduled) };
}

async function show(visit: CompanyVisit, draft: Draft, errors: Errors = {}): Promise<Answer> {
  const { body, kind } = draft;
  const { zone, now, clock } = await clocksOf(visit, body);
  return {
    view: "new-campaign-when",
    title: messages.newCampaign.titles.when,
    values: {
      steps: stepsOf(visit, draft.id, "when"),
      here: draftPath(visit, draft.id, "when"),
      when: visit.form.when ?? whenIn(body),
      clock: visit.form.clock ?? clock,
      now,
      zone,
      mayWait: kind !== "custom",
      mayBeLocal: kind === "to-list" && body.variants === undefined,
      errors,
      isSaved: pressedButton(visit) === "autosave",
    },
  };
}

export const whenPage = ofDraft((visit, draft) => show(visit, draft));

/**
 * Returns the changes of the form. Keeps an invalid time for the API to refuse. Throws if a date is typed beside "now".
 */
async function changesOf(visit: CompanyVisit, { body }: Draft): Promise<Body> {
  const { when = "now", clock = "" } = visit.form;
  if (when === "now") {
    if (clock !== "" && clock !== (await clocksOf(visit, body)).clock) {
      throw invalid({ scheduled_for: [messages.newCampaign.nowAndDate] });
    }
    return { scheduled_for: undefined, timezone: undefined };
  }
  const year = Number(clock.slice(0, 4));
  if (isClock(clock) && (year < MIN_YEAR || !isInYears(year))) {
    throw invalid({ scheduled_for: [messages.newCampaign.yearOutside] });
  }
  if (when === "local")
    return { scheduled_for: isClock(clock) ? `${clock.slice(0, 16)}:00Z` : clock, timezone: "recipient" };
  const at = isClock(clock) ? await callUnder(visit, "accounts.instantOf", { clock }) : clock;
  return { scheduled_for: at, timezone: undefined };
}

export const saveWhen = ofDraft((visit, draft) => {
  let saved = draft;
  return orAgain(
    async () => {
      saved = await saveDraft(visit, draft, await changesOf(visit, draft));
      return afterSaving(visit, saved, "when", (now, errors) => show(visit, now, errors));
    },
    (errors) => show(visit, saved, errors),
  );
});
