import { type Condition, rulesErrors, segmentSql } from "../../../models/segment-rules/segment-sql.ts";

const ID = "018f0000-0000-7000-8000-000000000001";
const errorOf = (condition: unknown) => rulesErrors({ conditions: [condition as Condition] })[0];

describe("the rules of a segment", () => {
  test.each([
    ["email", "equals", "a@b.de"],
    ["domain", "in", ["b.de", "c.de"]],
    ["first_name", "is_empty", undefined],
    ["last_name", "not_contains", "x"],
    ["status", "not_in", ["active", "bounced"]],
    ["created_at", "before", "2026-01-01"],
    ["created_at", "gte", "2026-01-01T10:00:00+02:00"],
    ["last_opened_at", "in_last_days", 30],
    ["last_clicked_at", "is_not_empty", undefined],
    ["list", "equals", ID],
    ["list", "is_empty", undefined],
    ["opened_campaign", "not_equals", ID],
    ["clicked_campaign", "in", [ID]],
    ["attributes.age", "gt", 17.5],
    ["attributes.vip", "equals", true],
    ["attributes.First Seen", "after", "2026-01-01"],
  ])("may have %s %s %j", (field, operator, value) => {
    expect(errorOf({ field, operator, value })).toBeUndefined();
  });

  test.each([
    [{ field: "shoe_size", operator: "equals", value: "1" }, '"shoe_size" is not a field.'],
    [{ field: "__proto__", operator: "equals", value: "1" }, '"__proto__" is not a field.'],
    [{ field: "attributes.", operator: "equals", value: "1" }, '"attributes." is not a field.'],
    [{ field: "attributes.__proto__", operator: "equals", value: "1" }, '"attributes.__proto__" is not a field.'],
    [{ operator: "equals", value: "1" }, "A field is required."],
    [{ field: "email", value: "1" }, "An operator is required."],
    [{ field: "email", operator: "gt", value: 1 }, '"gt" is not an operator of email.'],
    [{ field: "email", operator: "is_empty" }, '"is_empty" is not an operator of email.'],
    [{ field: "email", operator: "not_starts_with", value: "a" }, '"not_starts_with" is not an operator of email.'],
    [{ field: "email", operator: "constructor", value: "a" }, '"constructor" is not an operator of email.'],
    [{ field: "status", operator: "contains", value: "a" }, '"contains" is not an operator of status.'],
    [{ field: "email", operator: "equals" }, "A value is required for equals."],
    [{ field: "email", operator: "equals", value: 3 }, "The value must be a text."],
    [{ field: "email", operator: "contains", value: "" }, "The value may not be blank."],
    [{ field: "email", operator: "in", value: "a" }, "The value must be an array."],
    [{ field: "email", operator: "in", value: [] }, "The value may not be an empty array."],
    [{ field: "email", operator: "in", value: [1] }, "The value must be a text."],
    [{ field: "status", operator: "equals", value: "gone" }, /^The value must be one of active/],
    [{ field: "created_at", operator: "after", value: "soon" }, /^The value must be a date/],
    [{ field: "created_at", operator: "after", value: "2026-02-31T00:00" }, /^The value must be a date/],
    [{ field: "created_at", operator: "after", value: "2026-13-01" }, /^The value must be a date/],
    [{ field: "created_at", operator: "gte", value: "2027-02-31" }, /^The value must be a date/],
    [{ field: "last_opened_at", operator: "before", value: "2027-02-29T10:00:00Z" }, /^The value must be a date/],
    [{ field: "attributes.born", operator: "before", value: "2027-04-31" }, /^The value must be a date/],
    [{ field: "created_at", operator: "in_last_days", value: 0 }, /^The value must be a whole number of days/],
    [{ field: "list", operator: "equals", value: "x" }, "The value must be a valid UUID."],
    [{ field: "attributes.a", operator: "gt", value: "3" }, "The value must be a number."],
    [{ field: "attributes.a", operator: "equals", value: {} }, "The value must be a text, a number or a boolean."],
    ["condition", "Expected an object."],
    [null, "Expected an object."],
  ])("are refused with %j", (condition, sentence) => {
    const error = errorOf(condition);
    if (sentence === undefined) expect(error).toBeUndefined();
    else if (typeof sentence === "string") expect(error).toBe(`Condition at index 0: ${sentence}`);
    else expect(error?.replace("Condition at index 0: ", "")).toMatch(sentence);
  });

  test("are refused with the index of every invalid condition", () => {
    const good = { field: "email", operator: "equals", value: "a@b.de" };
    const bad = { field: "email", operator: "gt", value: 1 };
    expect(rulesErrors({ conditions: [good, bad, good, bad] }).map((text) => text.slice(0, 20))).toEqual([
      "Condition at index 1",
      "Condition at index 3",
    ]);
  });

  test("have a limited number of conditions and values", () => {
    const good = { field: "email", operator: "equals", value: "a@b.de" };
    expect(rulesErrors({ conditions: [] })).toEqual(["At least one condition is required."]);
    expect(rulesErrors({ conditions: Array(51).fill(good) })).toEqual(["No more than 50 conditions are allowed."]);
    expect(errorOf({ ...good, operator: "in", value: Array(1_001).fill("a") })).toContain("no more than 1000 elements");
  });

  test.each([
    ["2026-01-01T10:00", "2026-01-01T10:00:00.000Z"],
    ["2026-01-01 10:00:30", "2026-01-01T10:00:30.000Z"],
    ["2026-01-01T10:00:00+02:00", "2026-01-01T08:00:00.000Z"],
  ])("read the time %s as %s in any time zone", (value, bound) => {
    const { values } = segmentSql({ conditions: [{ field: "created_at", operator: "lt", value }] }, ID, 1);
    expect(values).toEqual([ID, bound]);
  });

  test("never put a value into SQL text", () => {
    const evil = "'; drop table subscribers; --";
    const { where, values } = segmentSql(
      {
        match: "any",
        conditions: [
          { field: "email", operator: "contains", value: evil },
          { field: `attributes.${evil}`, operator: "in", value: [evil] },
        ],
      },
      ID,
      3,
    );
    expect(where).not.toContain("drop");
    expect(where).toMatch(/^\(s\.company_id = \$3::uuid and \(/);
    expect(values[0]).toBe(ID);
    expect(values.flat()).toContain(evil);
  });
});
