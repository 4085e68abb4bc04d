/** Segments: the list, the rule builder with a live count, and uses of a segment before it is deleted. */

import type { ReturnsOf } from "../../contracts.ts";
import { isServiceError } from "../../lib/errors.ts";
import { readableName } from "../../lib/readable-name.ts";
import { requirePermission } from "../../permissions.ts";
import { type Errors, orAgain } from "../form-errors.ts";
import { orderingIn } from "../list-link.ts";
import { messages } from "../messages.ts";
import { askedOf, pagerOf } from "../pager.ts";
import { formatted } from "../render.ts";
import { type Answer, type CompanyVisit, callIn, companyPath, may, type Outcome } from "../request.ts";
import { choicesOf, FIELDS, isSeveral } from "../segment-fields.ts";
import { labelOf, type Names, namesFor, optionsFor, sentenceOf } from "../segment-names.ts";
import { choiceOf, conditionOf, EMPTY_ROW, errorsByRow, MAX_ROWS, type Row, rowOf, rowsIn } from "../segment-rows.ts";
import { timeOf } from "../times.ts";

type Segment = ReturnsOf<"subscribers.getSegment">;
type Match = "all" | "any";

const t = messages.segments;
const WRITES = "subscribers.createSegment";

/** Also required for forms that only count or are shown again. */
const requireMay = ({ company: { role } }: CompanyVisit): void => requirePermission(WRITES, { role });

export async function segmentsPage(visit: CompanyVisit): Promise<Answer> {
  const { query } = visit;
  const here = companyPath(visit, "segments");
  const { results, ...paging } = await callIn(visit, "subscribers.listSegments", {
    ...askedOf(query),
    ...orderingIn(query, ["name", "created_at"]),
  });
  return {
    view: "segments",
    title: t.title,
    values: {
      segments: results.map((one) => ({ ...one, rules: one.rules.conditions.length })),
      asked: query,
      here,
      pager: pagerOf(here, query, paging),
      mayWrite: may(visit, WRITES),
    },
  };
}

interface Counted {
  /** Number of subscribers; undefined if it cannot be counted yet. */
  count?: string;
  sample?: ReturnsOf<"subscribers.previewSegment">["sample"];
  notDates?: string[];
}

const fitText = (n: number, isEstimate: boolean): string => {
  if (n === 0 && !isEstimate) return t.nobody;
  return isEstimate ? t.aboutFit(formatted(n)) : t.fit(formatted(n));
};

/** Returns one count, so that the list's page can request its counts one after the other. */
export async function countPage(visit: CompanyVisit): Promise<Answer> {
  const { name, subscriber_count, subscriber_count_is_estimate } = await callIn(visit, "subscribers.getSegment", {
    id: visit.params.id!,
  });
  const n = formatted(subscriber_count ?? 0);
  return {
    view: "segment-count",
    title: name,
    values: {
      count: subscriber_count_is_estimate ? `≈ ${n}` : n,
      sentence: fitText(subscriber_count ?? 0, subscriber_count_is_estimate),
      back: companyPath(visit, "segments"),
    },
  };
}

/** Content of the builder's form, stored or submitted. */
interface Draft {
  name: string;
  description: string;
  match: Match;
  rows: Row[];
}

const rulesOf = ({ match, rows }: Draft) => ({ match, conditions: rows.map(conditionOf) });

function draftIn({ form }: CompanyVisit): Draft {
  const { name = "", description = "", match } = form;
  return { name, description, match: match === "any" ? "any" : "all", rows: rowsIn(form) };
}

async function counted(visit: CompanyVisit, draft: Draft): Promise<Counted> {
  try {
    const rules = rulesOf(draft);
    const found = await callIn(visit, "subscribers.previewSegment", { rules });
    const { subscriber_count, subscriber_count_is_estimate, sample } = found;
    const notDates = found.not_dates.flatMap(({ field, count }) =>
      count ? t.notDates(formatted(count), count, readableName(field.replace("attributes.", ""))) : [],
    );
    return { count: fitText(subscriber_count, subscriber_count_is_estimate), sample, notDates };
  } catch (error) {
    if (isServiceError(error, "INVALID")) return { count: t.unfinished };
    if (isServiceError(error, "THROTTLED") || isServiceError(error, "UNAVAILABLE")) return { count: t.busy };
    if (isServiceError(error, "FEATURE_NOT_AVAILABLE")) return { count: error.message };
    throw error;
  }
}

function shownRow(row: Row, at: number, names: Names, errors: Record<number, string[]>) {
  const choice = choiceOf(row);
  return {
    ...row,
    at,
    choices: choicesOf(row.field)
      .filter((one) => !one.rare || one.key === row.choice)
      .map(({ key }) => [key, labelOf(row.field, key)]),
    input: choice?.input ?? "none",
    isSeveral: choice !== undefined && isSeveral(choice.input),
    options: optionsFor(row, names),
    errors: errors[at] ?? [],
  };
}

interface Building {
  /** Segment id; unset for a new segment. */
  id?: string;
  errors?: Errors;
  /** Row that gets the keyboard focus; "add" for the button below the rows. */
  focus?: number | "add";
  counted?: Counted;
}

async function showBuilder(visit: CompanyVisit, draft: Draft, building: Building): Promise<Answer> {
  const { id, errors = {}, focus, counted = {} } = building;
  const names = await namesFor(visit, draft.rows);
  const byRow = errorsByRow(errors.rules ?? []);
  const here = companyPath(visit, `segments/${id ?? "new"}`);
  return {
    view: "segment",
    title: id ? draft.name || t.title : t.newTitle,
    values: {
      draft,
      rows: draft.rows.map((row, at) => shownRow(row, at, names, byRow)),
      fields: Object.keys(FIELDS).map((field) => [field, t.fields[field as keyof typeof t.fields]]),
      attributes: names.attributes,
      errors: { ...errors, "": [...(errors[""] ?? []), ...(byRow[-1] ?? [])] },
      focus,
      ...counted,
      isFull: draft.rows.length >= MAX_ROWS,
      here,
      isNew: id === undefined,
      subscribers: companyPath(visit, "subscribers"),
      back: companyPath(visit, "segments"),
    },
  };
}

const draftOf = ({ name, description, rules }: Segment): Draft => ({
  name,
  description,
  match: rules.match ?? "all",
  rows: rules.conditions.map(rowOf),
});

const stored = (visit: CompanyVisit) => callIn(visit, "subscribers.getSegment", { id: visit.params.id!, count: false });

const blank = (): Draft => ({ name: "", description: "", match: "all", rows: [EMPTY_ROW] });

export async function newSegment(visit: CompanyVisit): Promise<Answer> {
  requireMay(visit);
  return showBuilder(visit, blank(), {});
}

export async function segmentPage(visit: CompanyVisit): Promise<Answer> {
  const segment = await stored(visit);
  const draft = draftOf(segment);
  if (may(visit, "subscribers.updateSegment")) return showBuilder(visit, draft, { id: segment.id });
  const names = await namesFor(visit, draft.rows);
  return {
    view: "segment-words",
    title: segment.name,
    values: {
      draft,
      sentences: draft.rows.map((row) => sentenceOf(row, names)),
      here: companyPath(visit, `segments/${segment.id}`),
      back: companyPath(visit, "segments"),
    },
  };
}

async function save(visit: CompanyVisit, id: string | undefined, draft: Draft): Promise<Answer> {
  const { name, description } = draft;
  const given = { name, description, rules: rulesOf(draft) };
  const saved = id
    ? await callIn(visit, "subscribers.updateSegment", { id, ...given })
    : await callIn(visit, "subscribers.createSegment", given);
  return { goTo: companyPath(visit, `segments/${saved.id}`), notice: "saved" };
}

/** Handles the builder's form: add or remove a row, update fields after a choice, count, or save. */
async function build(visit: CompanyVisit, id?: string): Promise<Outcome | Answer> {
  requireMay(visit);
  const draft = draftIn(visit);
  const { rows } = draft;
  const [wanted = "", at = ""] = (visit.form.do ?? "save").split(".");
  const place = id ? { id } : {};
  switch (wanted) {
    case "add":
      return showBuilder(
        visit,
        { ...draft, rows: [...rows, EMPTY_ROW].slice(0, MAX_ROWS) },
        { ...place, focus: rows.length },
      );
    case "remove":
      return showBuilder(visit, { ...draft, rows: rows.filter((_, n) => `${n}` !== at) }, { ...place, focus: "add" });
    case "refresh":
      return showBuilder(visit, draft, place);
    case "count":
      return showBuilder(visit, draft, { ...place, counted: await counted(visit, draft) });
    default:
      return orAgain(
        () => save(visit, id, draft),
        (errors) => showBuilder(visit, draft, { ...place, errors }),
      );
  }
}

export const buildNewSegment = (visit: CompanyVisit): Promise<Outcome | Answer> => build(visit);

export async function buildSegment(visit: CompanyVisit): Promise<Outcome | Answer> {
  requireMay(visit);
  return build(visit, (await stored(visit)).id);
}

const MOST = 100;

/** Scheduled campaigns and drafts whose audience is this segment. */
async function usesOf(visit: CompanyVisit, id: string): Promise<string[]> {
  const [campaigns, drafts] = await Promise.all([
    callIn(visit, "campaigns.list", { status: "scheduled", page_size: MOST }),
    callIn(visit, "campaigns.listDrafts", { page_size: MOST }),
  ]);
  const isIts = (body: unknown) => (body as { segment_id?: unknown } | null)?.segment_id === id;
  return [
    ...campaigns.results
      .filter(({ segment_id }) => segment_id === id)
      .map(({ name, scheduled_for }) => t.scheduled(name, timeOf(scheduled_for, visit.company.timezone))),
    ...drafts.results.filter(({ body }) => isIts(body)).map(({ name }) => t.draft(name)),
  ];
}

export async function confirmDelete(visit: CompanyVisit): Promise<Answer> {
  requirePermission("subscribers.removeSegment", { role: visit.company.role });
  const { id, name } = await stored(visit);
  return {
    view: "segment-delete",
    title: t.deleteTitle(name),
    values: { uses: await usesOf(visit, id), here: companyPath(visit, `segments/${id}`) },
  };
}

export async function deleteSegment(visit: CompanyVisit): Promise<Answer> {
  await callIn(visit, "subscribers.removeSegment", { id: visit.params.id! });
  return { goTo: companyPath(visit, "segments"), notice: "deleted" };
}
