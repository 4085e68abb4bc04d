/**
 * Fields and operators of the segment builder: those of the API (models/segment-rules/segment-sql.ts) with the input
 * that each value needs. test/unit/console/segment-rows.test.ts checks that none is missing.
 */

/** Input for the value: one value, or several. */
export type Input =
  | "none"
  | "text"
  | "texts"
  | "number"
  | "days"
  | "date"
  | "flag"
  | "status"
  | "statuses"
  | "list"
  | "lists"
  | "campaign"
  | "campaigns";

/** An operator with one type of value: `equals` of an attribute is three choices. */
export interface Choice {
  /** Value of the choice in the form. */
  key: string;
  operator: string;
  input: Input;
  /** Equivalent to another choice, so it is offered only if a stored rule uses it. */
  rare?: true;
}

const choicesFor = (input: Input, ...operators: string[]): Choice[] =>
  operators.map((operator) => ({ key: operator, operator, input }));
const rare = (choices: Choice[]): Choice[] => choices.map((choice) => ({ ...choice, rare: true }));
const typed = (input: Input, ...operators: string[]): Choice[] =>
  operators.map((operator) => ({ key: `${operator}:${input}`, operator, input }));

const TEXT = [
  ...choicesFor("text", "equals", "not_equals", "contains", "not_contains", "starts_with", "ends_with"),
  ...choicesFor("texts", "in", "not_in"),
];
const EMPTY = choicesFor("none", "is_empty", "is_not_empty");
const TIME = [
  ...choicesFor("days", "in_last_days"),
  ...choicesFor("date", "before", "gte"),
  ...rare(choicesFor("date", "after", "gt", "lt", "lte")),
];
const oneOrMore = (one: Input, several: Input): Choice[] => [
  ...choicesFor(one, "equals", "not_equals"),
  ...choicesFor(several, "in", "not_in"),
];
const CAMPAIGN = oneOrMore("campaign", "campaigns");

export const ATTRIBUTE = "attribute";

export const FIELDS: Record<string, Choice[]> = {
  email: TEXT,
  domain: TEXT,
  first_name: [...TEXT, ...EMPTY],
  last_name: [...TEXT, ...EMPTY],
  [ATTRIBUTE]: [
    ...TEXT,
    ...typed("number", "equals", "not_equals"),
    ...choicesFor("number", "gt", "gte", "lt", "lte"),
    ...typed("flag", "equals"),
    ...rare(typed("flag", "not_equals")),
    ...choicesFor("days", "in_last_days"),
    ...choicesFor("date", "before", "after"),
    ...EMPTY,
  ],
  list: [...oneOrMore("list", "lists"), ...EMPTY],
  status: oneOrMore("status", "statuses"),
  created_at: TIME,
  last_opened_at: [...TIME, ...EMPTY],
  last_clicked_at: [...TIME, ...EMPTY],
  opened_campaign: CAMPAIGN,
  clicked_campaign: CAMPAIGN,
  last_bounced_at: [...TIME, ...EMPTY],
  soft_bounces: choicesFor("number", "gte", "gt", "lte", "lt", "equals", "not_equals"),
  complained: [...choicesFor("flag", "equals"), ...rare(choicesFor("flag", "not_equals"))],
};

export const choicesOf = (field: string): readonly Choice[] => (Object.hasOwn(FIELDS, field) ? FIELDS[field]! : []);

export const isSeveral = (input: Input): boolean => ["statuses", "lists", "campaigns"].includes(input);
