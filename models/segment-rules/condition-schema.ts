/** JSON Schema of a condition, made from the tables that check it: what each field can be asked, and with what value. */
import { NAME_PATTERN } from "../../services/lib/attributes.ts";
import { SUBSCRIBER_STATUSES } from "../subscriber.ts";
import { type FieldType, fieldKinds } from "./fields.ts";
import { operatorsOf } from "./operators.ts";
import { OPPOSITES } from "./segment-sql.ts";
import { DATE, MAX_DAYS, MAX_TEXT, MAX_VALUES } from "./values.ts";

const text = { type: "string", minLength: 1, maxLength: MAX_TEXT };
const number = { type: "number" };
const uuid = { type: "string", format: "uuid" };
const date = {
  type: "string",
  pattern: DATE.source,
  description: "A date (the whole day in the company's time zone) or a date-time, within the years 1 to 9999 in UTC.",
};
const VALUES: Record<FieldType, object> = {
  text,
  address: text,
  domain: text,
  time: date,
  status: { enum: SUBSCRIBER_STATUSES },
  flag: { type: "boolean" },
  count: number,
  list: uuid,
  opened: uuid,
  clicked: uuid,
  attribute: { anyOf: [text, number, { type: "boolean" }] },
};

function valueFor(type: FieldType, operator: string): object {
  switch (operator) {
    case "in":
      return { type: "array", items: VALUES[type], minItems: 1, maxItems: MAX_VALUES };
    case "in_last_days":
      return { type: "integer", minimum: 1, maximum: MAX_DAYS };
    case "before":
    case "after":
      return date;
    case "contains":
    case "starts_with":
    case "ends_with":
      return text;
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      return type === "time" ? date : number;
    default:
      return VALUES[type];
  }
}

const negated = (operator: string) => (operator === "is_empty" ? "is_not_empty" : `not_${operator}`);

function shapes(type: FieldType, nullable: boolean, names: readonly string[]): object[] {
  const field =
    names.length > 0 ? { enum: names } : { type: "string", pattern: NAME_PATTERN.replace("^", "^attributes\\.") };
  /** Operators by the value they take. */
  const groups = new Map<string, { operators: string[]; value: object | undefined }>();
  for (const operator of operatorsOf(type, nullable).keys()) {
    const value = operator === "is_empty" ? undefined : valueFor(type, operator);
    const group = groups.get(JSON.stringify(value)) ?? { operators: [], value };
    group.operators.push(operator, ...(OPPOSITES.includes(operator) ? [negated(operator)] : []));
    groups.set(JSON.stringify(value), group);
  }
  return [...groups.values()].map(({ operators, value }) => ({
    type: "object",
    properties: {
      field: { description: "Field of the subscriber.", ...field },
      operator: { enum: operators, description: "How the field is compared." },
      value: value ? { description: "Value or values to compare with.", ...value } : { description: "Ignored." },
    },
    required: value ? ["field", "operator", "value"] : ["field", "operator"],
  }));
}

/** Returns one shape per field type and value type. */
export const conditionSchema = (): object => ({
  anyOf: fieldKinds().flatMap(({ kind: { type, nullable }, names }) => shapes(type, nullable, names)),
});
