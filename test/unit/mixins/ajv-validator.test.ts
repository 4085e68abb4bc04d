import { compileValidator } from "../../../mixins/ajv-validator.ts";
import { contracts } from "../../../services/contracts.ts";
import { events } from "../../../services/events.ts";
import { Email, Nullable, Text, Time, Type, Uuid } from "../../../services/lib/shapes.ts";
import { cpuMsOf } from "../../support/cpu.ts";

const Params = Type.Object({
  email: Email,
  note: Type.Optional(Nullable(Text(10))),
  ids: Type.Optional(Type.Array(Uuid, { maxItems: 1000 })),
  receivers: Type.Optional(Type.Array(Type.Unknown())),
});
const errorsOf = compileValidator({ ...Params });

describe("the validator", () => {
  // Schemas are compiled on first use, so a mistake would be found late.
  test("compiles the schema of every action and every event", () => {
    const actions: Record<string, { params: object }>[] = Object.values(contracts);
    const schemas = [...actions.flatMap((service) => Object.values(service).map(({ params }) => params))];
    expect(schemas.length).toBeGreaterThan(100);
    for (const schema of [...schemas, ...Object.values(events)]) {
      const validate = compileValidator({ ...schema });
      expect(() => validate({})).not.toThrow();
    }
  });

  test("reports all errors of a body at once, in the wording of Django REST framework", () => {
    expect(errorsOf({ note: "x".repeat(11), ids: ["1"] })).toEqual({
      email: ["This field is required."],
      note: ["Ensure this field has no more than 10 characters."],
      ids: ["Item at index 0: Must be a valid UUID."],
    });
    expect(errorsOf({ email: "ann@example.com", note: null })).toEqual({});
  });

  test("refuses values that PostgreSQL cannot store, at any depth", () => {
    expect(errorsOf({ email: "a@example.com", note: "a\0" })).toEqual({ note: ["Null characters are not allowed."] });
    expect(errorsOf({ email: "a@example.com", receivers: [{ "k\0": 1 }] })).toHaveProperty("receivers");
    expect(errorsOf({ email: "a@example.com", receivers: [[["\ud800"]]] })).toEqual({
      receivers: ["Not a valid string."],
    });
    const deep = JSON.parse(`${"[".repeat(5_000)}${"]".repeat(5_000)}`) as unknown;
    expect(errorsOf({ email: "a@example.com", receivers: deep })).toEqual({ receivers: ["Nested too deeply."] });
  });

  test("ignores unknown fields, whatever their names and values", () => {
    const odd = JSON.parse(
      '{"constructor":"\\u0000","toString":["\\ud800"],"x":"\\u0000","email":"a@example.com"}',
    ) as object;
    expect(errorsOf(odd)).toEqual({});
  });

  test.each([
    ["an offset without minutes", "2030-01-01T00:00:00+02"],
    ["a leap second", "2016-12-31T23:59:60Z"],
    ["a year of five digits, by its offset", "9999-12-31T23:59:59-12:00"],
    ["no offset", "2030-01-01T00:00:00"],
    ["a day that does not exist", "2030-02-31T00:00:00Z"],
  ])("refuses a time that cannot be computed with: %s", (_, at) => {
    const form = "YYYY-MM-DDThh:mm:ss[.uuuuuu](+HH:MM|-HH:MM|Z)";
    expect(compileValidator({ ...Type.Object({ at: Time }) })({ at })).toEqual({
      at: [`Datetime has wrong format. Use one of these formats instead: ${form}.`],
    });
  });

  test.each(["2030-01-01T00:00:00Z", "2030-01-01T00:00:00.123456+05:30", "9999-12-31T23:59:59.999Z"])(
    "accepts the time %s",
    (at) => {
      expect(compileValidator({ ...Type.Object({ at: Time }) })({ at })).toEqual({});
    },
  );

  test("calls whole numbers by their name", () => {
    const Things = Type.Object({ things: Type.Array(Type.String()) });
    expect(compileValidator({ ...Things })({ things: 5 })).toEqual({
      things: ['Expected a list of items but got type "int".'],
    });
  });

  test.each([
    ["of ids", { ids: Array.from({ length: 90_000 }, () => "x") }],
    ["of more ids", { ids: Array.from({ length: 500_000 }, () => "x") }],
    ["of anything, in millions", { receivers: new Array(5_000_000).fill(1) }],
  ])("stays fast and brief with a huge array %s", async (_, field) => {
    let errors: ReturnType<typeof errorsOf> = {};
    const ms = await cpuMsOf(() => {
      errors = errorsOf({ email: "a@example.com", ...field });
    });
    expect(ms).toBeLessThan(3_000);
    expect(Object.keys(errors)).toEqual(Object.keys(field));
    expect(Object.values(errors)[0]!.length).toBeLessThanOrEqual(100);
  });
});
