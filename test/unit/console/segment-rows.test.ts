import { conditionSchema } from "../../../models/segment-rules/condition-schema.ts";
import { rulesErrors } from "../../../models/segment-rules/segment-sql.ts";
import { messages } from "../../../services/console/messages.ts";
import { FIELDS } from "../../../services/console/segment-fields.ts";
import { labelOf } from "../../../services/console/segment-names.ts";
import { type Condition, conditionOf, errorsByRow, rowOf, rowsIn } from "../../../services/console/segment-rows.ts";

const ID = "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5b";

/** All fields with each of their operators, in the API's form. */
function ofTheApi(): { field: string; operator: string }[] {
  const { anyOf } = conditionSchema() as {
    anyOf: { properties: { field: { enum?: string[] }; operator: { enum: string[] } } }[];
  };
  return anyOf.flatMap(({ properties: { field, operator } }) =>
    (field.enum ?? ["attribute"]).flatMap((name) => operator.enum.map((one) => ({ field: name, operator: one }))),
  );
}

test("the builder offers every field and operator of the API, and no other", () => {
  const spelled = ({ field, operator }: { field: string; operator: string }) => `${field} ${operator}`;
  const offered = Object.entries(FIELDS).flatMap(([field, choices]) =>
    choices.map(({ operator }) => spelled({ field, operator })),
  );
  expect([...new Set(offered)].toSorted()).toEqual([...new Set(ofTheApi().map(spelled))].toSorted());
});

test("every field and operator has a name", () => {
  for (const [field, choices] of Object.entries(FIELDS)) {
    expect(messages.segments.fields).toHaveProperty(field);
    for (const { key } of choices) expect([field, key, typeof labelOf(field, key)]).toEqual([field, key, "string"]);
  }
});

const shown: Condition[] = [
  { field: "email", operator: "ends_with", value: "@x.org" },
  { field: "domain", operator: "in", value: ["x.org", "y.org"] },
  { field: "first_name", operator: "is_empty" },
  { field: "status", operator: "not_in", value: ["bounced", "complained"] },
  { field: "created_at", operator: "before", value: "2024-05-01" },
  { field: "created_at", operator: "lte", value: "2024-05-01" },
  { field: "last_opened_at", operator: "in_last_days", value: 30 },
  { field: "complained", operator: "not_equals", value: true },
  { field: "soft_bounces", operator: "gte", value: 3 },
  { field: "list", operator: "not_equals", value: ID },
  { field: "opened_campaign", operator: "in", value: [ID] },
  { field: "attributes.city", operator: "equals", value: "London" },
  { field: "attributes.books", operator: "equals", value: 3 },
  { field: "attributes.books", operator: "equals", value: "3" },
  { field: "attributes.vip", operator: "equals", value: false },
  { field: "attributes.books", operator: "gte", value: -1.5 },
  { field: "attributes.last order", operator: "after", value: "2024-05-01" },
];

test.each(shown)("$field $operator $value is shown in fields, and is restored unchanged", (condition) => {
  expect(rulesErrors({ conditions: [condition] })).toEqual([]);
  const row = rowOf(condition);
  expect(row.kept).toBeUndefined();
  expect(conditionOf(row)).toEqual(condition);
});

const kept: Condition[] = [
  { field: "created_at", operator: "after", value: "2024-05-01T10:00:00+02:00" },
  { field: "attributes.code", operator: "in", value: ["a", 1, true] },
  { field: "attributes.code", operator: "in", value: ["two\nlines"] },
  { field: "email", operator: "is_empty", value: "means nothing" },
  { field: "planet", operator: "equals", value: "Mars" },
  { field: "email", operator: "sounds_like", value: "x" },
];

test.each(kept)("$field $operator $value cannot be shown, and is kept as it is through the form", (condition) => {
  const row = rowOf(condition);
  expect(row.kept).toBeDefined();
  const [again] = rowsIn({ rows: "1", "r.0.kept": row.kept! });
  expect(conditionOf(again!)).toEqual(condition);
});

describe("a submitted form", () => {
  const row = (fields: Record<string, string>) =>
    rowsIn({
      rows: "1",
      ...Object.fromEntries(Object.entries(fields).map(([name, value]) => [`r.0.${name}`, value])),
    })[0]!;

  test("has the first operator of a field that was just chosen, and not the value of the previous field", () => {
    const fields = {
      field: "created_at",
      choice: "contains",
      value: "x",
      "was.field": "email",
      "was.choice": "contains",
    };
    expect(row(fields)).toMatchObject({ field: "created_at", choice: "in_last_days", value: "" });
  });

  test("keeps a value where only the operator changed and the value still fits", () => {
    const fields = { field: "email", choice: "contains", value: "x", "was.field": "email", "was.choice": "equals" };
    expect(conditionOf(row(fields))).toEqual({ field: "email", operator: "contains", value: "x" });
  });

  test.each([
    ["several lines", { field: "email", choice: "in", value: "a@x.org\r\n\r\n b@x.org " }, ["a@x.org", "b@x.org"]],
    ["boxes", { field: "list", choice: "in", [`pick.${ID}`]: "on" }, [ID]],
    ["a number", { field: "attribute", name: "n", choice: "gt", value: " 7 " }, 7],
    ["an invalid number", { field: "attribute", name: "n", choice: "gt", value: "seven" }, "seven"],
    ["nothing", { field: "list", choice: "equals", value: "" }, undefined],
  ])("turns %s into the value", (_name, fields, value) => {
    expect(conditionOf(row(fields)).value).toEqual(value);
  });

  test.each(["x", "-1", "1e9", ""])("has a bounded number of rows with %j rows", (rows) => {
    expect(rowsIn({ rows }).length).toBeLessThanOrEqual(50);
  });

  test.each(["__proto__", "constructor", "planet"])("ignores the unknown field %j", (field) => {
    expect(row({ field }).field).toBe("");
  });
});

test("errors of conditions are shown at their rows", () => {
  const sentences = ["Condition at index 1: The value must be a number.", "At least one condition is required."];
  expect(errorsByRow(sentences)).toEqual({ 1: ["The value must be a number."], [-1]: [sentences[1]] });
});
