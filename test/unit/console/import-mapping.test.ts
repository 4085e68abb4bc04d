import { type FileColumns, guessedAddress, mappingOf, shownColumns } from "../../../services/console/import-mapping.ts";

const columnsOf = (...columns: [name: string, as: string, attribute?: string][]): FileColumns => ({
  header: true,
  charset: "utf-8",
  delimiter: ",",
  problem: null,
  columns: columns.map(([name, as, attribute]) => ({
    name,
    as: as as FileColumns["columns"][number]["as"],
    attribute: attribute ?? null,
    values: ["x"],
  })),
});

const look = columnsOf(
  ["E-Mail", "email"],
  ["Ort", "attribute", "Ort"],
  ["UNSUB_TIME", "unsubscribed"],
  ["", "ignored"],
  ["Ort", "attribute", "Ort"],
);

test("columns that the API recognises are not sent, except the address", () => {
  const form = { "column.0": "email", "column.1": "attribute", "attribute.1": "Ort", "column.2": "unsubscribed" };
  expect(mappingOf(look, form)).toEqual({ "E-Mail": "email" });
});

test("choices become the mapping; columns without a unique name cannot be named in it", () => {
  const form = {
    "column.0": "email",
    "column.1": "attribute",
    "attribute.1": " city ",
    "column.2": "ignored",
    "column.3": "status",
    "column.4": "ignored",
  };
  expect(mappingOf(look, form)).toEqual({ "E-Mail": "email", Ort: "city", UNSUB_TIME: null });
  expect(shownColumns(look, look, form).map(({ chosen, fixed }) => [chosen, fixed])).toEqual([
    ["email", undefined],
    ["attribute", undefined],
    ["ignored", undefined],
    ["status", "noName"],
    ["ignored", "repeated"],
  ]);
});

test("an unknown choice is ignored", () => {
  expect(mappingOf(look, { "column.0": "email", "column.1": "password" })).toEqual({ "E-Mail": "email" });
});

test("an earlier choice is selected again, and recognised columns are offered", () => {
  const mapped = columnsOf(
    ["E-Mail", "email"],
    ["Ort", "attribute", "city"],
    ["UNSUB_TIME", "ignored"],
    ["", "ignored"],
    ["Ort", "attribute", "Ort"],
  );
  const shown = shownColumns(look, mapped, {});
  expect(shown[1]).toMatchObject({ chosen: "attribute", attribute: "city" });
  expect(shown[2]).toMatchObject({ chosen: "ignored", choices: expect.arrayContaining(["unsubscribed"]) });
});

test("the address column is found by its values where no name tells", () => {
  const named = columnsOf(["Kontakt", "attribute", "Kontakt"], ["Ort", "attribute", "Ort"]);
  expect(guessedAddress(named)).toBe(-1);
  named.columns[0]!.values = ["", "ada@example.org"];
  expect(guessedAddress(named)).toBe(0);
  expect(shownColumns(named, named, {})[0]).toMatchObject({ chosen: "email" });
  expect(guessedAddress(columnsOf(["Mail", "email"], ["cc", "attribute", "cc"]))).toBe(-1);
});
