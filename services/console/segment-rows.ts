/**
 * Converts a segment's rules to form rows and back. A row that the form cannot show (a date with time and zone, mixed
 * values, a field of a later release) keeps its condition unchanged, so that saving loses nothing.
 */
import { isDeepStrictEqual } from "node:util";
import { ATTRIBUTE, type Choice, choicesOf, FIELDS, isSeveral } from "./segment-fields.ts";

export interface Condition {
  field: string;
  operator: string;
  value?: unknown;
}

type Form = Record<string, string>;

export interface Row {
  /** Key of FIELDS; "" if none is chosen yet. */
  field: string;
  /** Name of the attribute. */
  name: string;
  /** Key of a choice. */
  choice: string;
  value: string;
  /** Values of inputs with several values. */
  picks: string[];
  /** The condition as JSON if the form cannot show it. */
  kept?: string;
}

export const EMPTY_ROW: Row = { field: "", name: "", choice: "", value: "", picks: [] };

/** Maximum rows; the API's limit. */
export const MAX_ROWS = 50;

const PREFIX = "attributes.";

export const choiceOf = ({ field, choice }: Row): Choice | undefined =>
  choicesOf(field).find(({ key }) => key === choice);

const linesOf = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

/** Parses a number. Other text is returned unchanged, so that the API reports the error at its row. */
const numberIn = (text: string): number | string => {
  const number = Number(text.trim());
  return text.trim() === "" || Number.isNaN(number) ? text : number;
};

function entered({ value, picks }: Row, { input }: Choice): unknown {
  if (isSeveral(input)) return picks;
  if (input === "texts") return linesOf(value);
  if (value === "") return undefined;
  if (input === "number" || input === "days") return numberIn(value);
  if (input === "flag") return value === "yes";
  return value;
}

/** Converts a row to the API's condition. The API refuses the condition of an unfinished row with the reason. */
export function conditionOf(row: Row): Condition {
  if (row.kept !== undefined) return JSON.parse(row.kept) as Condition;
  const choice = choiceOf(row);
  const field = row.field === ATTRIBUTE ? `${PREFIX}${row.name.trim()}` : row.field;
  const condition = { field, operator: choice?.operator ?? "" };
  if (!choice || choice.input === "none") return condition;
  const value = entered(row, choice);
  return value === undefined ? condition : { ...condition, value };
}

const textOf = (value: unknown): string => {
  if (typeof value === "boolean") return value ? "yes" : "no";
  return Array.isArray(value) ? value.join("\n") : value === undefined ? "" : String(value);
};

/** Converts a condition to a row with the first equivalent choice. Without one, the row keeps the condition. */
export function rowOf(condition: Condition): Row {
  const isAttribute = typeof condition.field === "string" && condition.field.startsWith(PREFIX);
  const field = isAttribute ? ATTRIBUTE : condition.field;
  const name = isAttribute ? condition.field.slice(PREFIX.length) : "";
  for (const { key, operator, input } of choicesOf(field)) {
    if (operator !== condition.operator) continue;
    const picks = isSeveral(input) && Array.isArray(condition.value) ? condition.value.map(String) : [];
    const value = isSeveral(input) ? "" : textOf(condition.value);
    const row = { field, name, choice: key, value, picks };
    const isShown = input !== "date" || /^\d{4}-\d{2}-\d{2}$/.test(value);
    if (isShown && isDeepStrictEqual(conditionOf(row), { ...condition })) return row;
  }
  return { ...EMPTY_ROW, kept: JSON.stringify(condition) };
}

const isJson = (text: string): boolean => {
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
};

function rowIn(form: Form, at: number): Row {
  const part = (name: string) => form[`r.${at}.${name}`] ?? "";
  const kept = form[`r.${at}.kept`];
  if (kept !== undefined && isJson(kept)) return { ...EMPTY_ROW, kept };
  const field = Object.hasOwn(FIELDS, part("field")) ? part("field") : "";
  const prefix = `r.${at}.pick.`;
  const picks = Object.keys(form).filter((name) => name.startsWith(prefix));
  const row = {
    field,
    name: part("name"),
    choice: part("choice"),
    // Browsers send lines with CR.
    value: part("value").replaceAll("\r", ""),
    picks: picks.map((name) => name.slice(prefix.length)),
  };
  return withValidChoice(row, { field: part("was.field"), choice: part("was.choice") });
}

/** Gives the row an operator that its field has, and drops a value that was entered for another field or operator. */
function withValidChoice(row: Row, was: { field: string; choice: string }): Row {
  const choice = choiceOf(row) ?? choicesOf(row.field)[0];
  const next = { ...row, choice: choice?.key ?? "" };
  const before = choicesOf(was.field).find(({ key }) => key === was.choice);
  const isOther = row.field !== was.field || before?.input !== choice?.input;
  return was.field !== "" && isOther ? { ...next, value: "", picks: [] } : next;
}

/** Reads the rows of a submitted form. */
export function rowsIn(form: Form): Row[] {
  const given = Number(form.rows);
  const count = Number.isInteger(given) && given >= 0 ? Math.min(given, MAX_ROWS) : 0;
  return Array.from({ length: count }, (_, at) => rowIn(form, at));
}

/** Groups the API's errors by row; -1 holds those that belong to no row. */
export function errorsByRow(sentences: readonly string[]): Record<number, string[]> {
  const byRow: Record<number, string[]> = {};
  for (const sentence of sentences) {
    const found = /^Condition at index (\d+): (.*)$/s.exec(sentence);
    const at = found ? Number(found[1]) : -1;
    byRow[at] = [...(byRow[at] ?? []), found ? found[2]! : sentence];
  }
  return byRow;
}
