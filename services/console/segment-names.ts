/** Names of the lists, campaigns and statuses that rules of a segment can choose; loaded only if a rule needs them. */
import { SUBSCRIBER_STATUSES } from "../../models/subscriber.ts";
import { readableName } from "../lib/readable-name.ts";
import { messages } from "./messages.ts";
import { type CompanyVisit, callIn } from "./request.ts";
import { choicesOf, type Input } from "./segment-fields.ts";
import { choiceOf, type Row } from "./segment-rows.ts";

const t = messages.segments;
const PAGE = 100;
/** Pages of campaigns to load; rules with older campaigns show the id. */
const CAMPAIGN_PAGES = 3;

type Option = [value: string, label: string];

export interface Names {
  lists: Option[];
  campaigns: Option[];
  attributes: string[];
}

const asks = (rows: readonly Row[], ...inputs: Input[]) =>
  rows.some(({ field }) => choicesOf(field).some(({ input }) => inputs.includes(input)));

async function newestCampaigns(visit: CompanyVisit): Promise<Option[]> {
  const page = (pageNo: number) => callIn(visit, "campaigns.list", { page: pageNo, page_size: PAGE });
  const first = await page(1);
  const more = Math.min(CAMPAIGN_PAGES, Math.ceil(first.count / PAGE));
  const rest = await Promise.all(Array.from({ length: Math.max(0, more - 1) }, (_, n) => page(n + 2)));
  return [first, ...rest].flatMap(({ results }) => results.map(({ id, name }): Option => [id, name]));
}

async function allLists(visit: CompanyVisit): Promise<Option[]> {
  const { results } = await callIn(visit, "subscribers.listLists", { page_size: PAGE, ordering: "name" });
  return results.map(({ id, name }): Option => [id, name]);
}

export async function namesFor(visit: CompanyVisit, rows: readonly Row[]): Promise<Names> {
  const [lists, campaigns, attributes] = await Promise.all([
    asks(rows, "list", "lists") ? allLists(visit) : [],
    asks(rows, "campaign", "campaigns") ? newestCampaigns(visit) : [],
    callIn(visit, "subscribers.listAttributes", {}).then(({ names }) => names),
  ]);
  return { lists, campaigns, attributes };
}

const withUnknown = (options: Option[], chosen: readonly string[], label: (id: string) => string): Option[] => {
  const unknown = chosen.filter((id) => id !== "" && !options.some(([one]) => one === id));
  return [...options, ...unknown.map((id): Option => [id, label(id)])];
};

/** Options of the row's value; undefined if it is typed. */
export function optionsFor(row: Row, { lists, campaigns }: Names): Option[] | undefined {
  const chosen = [row.value, ...row.picks];
  switch (choiceOf(row)?.input) {
    case "list":
    case "lists":
      return withUnknown(lists, chosen, (id) => `${t.gone} (${id})`);
    case "campaign":
    case "campaigns":
      return withUnknown(campaigns, chosen, t.older);
    case "status":
    case "statuses":
      return SUBSCRIBER_STATUSES.map((status): Option => [status, messages.people.statuses[status]]);
    case "flag":
      return [
        ["yes", t.yes],
        ["no", t.no],
      ];
    default:
      return undefined;
  }
}

export const labelOf = (field: string, key: string): string =>
  t.operatorsOf[field]?.[key] ?? t.operators[key as keyof typeof t.operators];

/** Describes a rule in a sentence, for people who may not change it. */
export function sentenceOf(row: Row, names: Names): string {
  const choice = choiceOf(row);
  if (!choice) return row.kept ?? "";
  const fieldName = row.name === "" ? t.fields[row.field as keyof typeof t.fields] : readableName(row.name);
  const options = optionsFor(row, names);
  const values = row.picks.length > 0 ? row.picks : row.value.split("\n").filter((text) => text !== "");
  const shown = values.map((value) => options?.find(([one]) => one === value)?.[1] ?? value);
  return [fieldName, labelOf(row.field, choice.key), shown.map((text) => `“${text}”`).join(", ")].join(" ").trim();
}
