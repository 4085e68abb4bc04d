/**
 * Converts segment rules to one SQL condition over `subscribers s`, with bound parameters only.
 *
 * `match: "all"` (default) requires every condition, `"any"` one of them. Text is compared without regard to case. A
 * `not_` operator is the exact negation of its positive one, so that it also holds where the field is empty or missing.
 *
 * | field | operators | value |
 * |---|---|---|
 * | email, domain (any spelling whole) | equals, not_equals, contains, not_contains, starts_with, ends_with, | text; in, not_in: array of texts |
 * |  | in, not_in |  |
 * | first_name, last_name | the same, is_empty, is_not_empty | the same |
 * | status | equals, not_equals, in, not_in | a status, or an array of them |
 * | created_at | before, after, gt, gte, lt, lte, in_last_days | date or date-time; number of days |
 * | last_opened_at, last_clicked_at | the same, is_empty (never), is_not_empty | the same |
 * | last_bounced_at | the same | the same |
 * | complained | equals, not_equals | boolean |
 * | soft_bounces (in a row, no | equals, not_equals, gt, gte, lt, lte | number |
 * | delivery between) |  |  |
 * | list | equals, not_equals, in, not_in, is_empty (on no list), is_not_empty | uuid of a list, or an array of them |
 * | opened_campaign, clicked_campaign | equals, not_equals, in, not_in | uuid of a campaign, or an array of them |
 * | attributes.<name> | all of the above | text, number, boolean; number for gt … lte; date for before, after |
 *
 * A date without a time is the whole day in the company's time zone; before is lt, after is gt. An attribute that is an
 * array fits when one of its texts does; `is_empty` holds for a missing attribute, "" and []. Numbers written as text
 * (every CSV import) compare as numbers with gt … lte and with a number after equals. Only opens and clicks by people
 * count, on emails sent to the subscriber. `in_last_days` counts from the moment of the query.
 */
import { invalid } from "../../services/lib/errors.ts";
import { type Bind, type FieldKind, fieldKind } from "./fields.ts";
import { type LookUp, operatorsOf, type Test } from "./operators.ts";

export interface Condition {
  field: string;
  operator: string;
  value?: unknown;
}
export interface Rules {
  match?: "all" | "any";
  conditions: Condition[];
}

export const MAX_CONDITIONS = 50;

const UNARY = new Set(["is_empty", "is_not_empty"]);

interface ParsedCondition {
  kind: FieldKind;
  test: Test;
  negated: boolean;
}

/** `not_contains` is `contains` negated, so that each test exists once. */
function readOperator(operator: string): { positive: string; negated: boolean } {
  if (operator === "is_not_empty") return { positive: "is_empty", negated: true };
  return operator.startsWith("not_")
    ? { positive: operator.slice("not_".length), negated: true }
    : { positive: operator, negated: false };
}

/** Operators with a negated form. */
export const OPPOSITES = ["equals", "contains", "in", "is_empty"];

/** The condition parsed, or an error sentence. */
function parseCondition(condition: unknown): ParsedCondition | string {
  if (typeof condition !== "object" || condition === null || Array.isArray(condition)) return "Expected an object.";
  const { field, operator, value } = condition as Partial<Condition>;
  if (typeof field !== "string") return "A field is required.";
  if (typeof operator !== "string") return "An operator is required.";
  const kind = fieldKind(field);
  if (!kind) return `"${field.slice(0, 100)}" is not a field.`;
  const operators = operatorsOf(kind.type, kind.nullable);
  const { positive, negated } = readOperator(operator);
  const test = operators.get(positive);
  const hasOpposite = OPPOSITES.includes(positive);
  if (!test || (negated && !hasOpposite)) {
    return `"${operator.slice(0, 100)}" is not an operator of ${field}.`;
  }
  if (!UNARY.has(operator)) {
    if (value === undefined || value === null) return `A value is required for ${operator}.`;
    const error = test.error(value);
    if (error) return error;
  }
  return { kind, test, negated };
}

/** All errors of the rules, each sentence with the condition's index; empty if they are valid. */
export function rulesErrors(rules: Rules): string[] {
  const { conditions } = rules;
  if (conditions.length === 0) return ["At least one condition is required."];
  if (conditions.length > MAX_CONDITIONS) return [`No more than ${MAX_CONDITIONS} conditions are allowed.`];
  return conditions.flatMap((condition, index) => {
    const found = parseCondition(condition);
    return typeof found === "string" ? [`Condition at index ${index}: ${found}`] : [];
  });
}

interface SegmentSql {
  where: string;
  values: unknown[];
}

/**
 * The condition over the alias `s`; its parameters begin at $firstParameter. Throws INVALID on rules that are not valid
 * (also on stored ones that an older version let through). `lookUp`: "joined" where all people of the company are asked.
 */
export function segmentSql(
  rules: Rules,
  companyId: string,
  firstParameter: number,
  lookUp: LookUp = "each",
): SegmentSql {
  const values: unknown[] = [];
  const parameter = (value: unknown) => `$${firstParameter + values.push(value) - 1}`;
  const company = parameter(companyId);
  const bind: Bind = Object.assign(parameter, { company });
  const parts = rules.conditions.map((condition, index) => {
    const found = parseCondition(condition);
    if (typeof found === "string") throw invalid({ rules: [`Condition at index ${index}: ${found}`] });
    const sql = found.test.sql(found.kind.expression(bind), condition.value, bind, lookUp);
    return found.negated ? `not coalesce(${sql}, false)` : `(${sql})`;
  });
  const joined = parts.join(rules.match === "any" ? " or " : " and ");
  return { where: `(s.company_id = ${company}::uuid and (${joined}))`, values };
}

/** Ids of lists and campaigns in the rules, with the index of their condition. */
export function references(rules: Rules): { type: "list" | "campaign"; id: string; index: number }[] {
  return rules.conditions.flatMap((condition, index) => {
    const found = parseCondition(condition);
    if (typeof found === "string" || condition.value === undefined || UNARY.has(condition.operator)) return [];
    const { type } = found.kind;
    if (type !== "list" && type !== "opened" && type !== "clicked") return [];
    const ids = [condition.value].flat() as string[];
    return ids.map((id) => ({ type: type === "list" ? ("list" as const) : ("campaign" as const), id, index }));
  });
}
