import { readableName } from "../../services/lib/readable-name.ts";

test.each([
  ["favourite_colour", "Favourite colour"],
  ["favouriteColour", "Favourite colour"],
  ["LAST-ORDER", "LAST ORDER"],
  ["customerID", "CustomerID"],
  ["Größe", "Größe"],
  ["Favourite Colour", "Favourite Colour"],
  ["été.2026", "Été 2026"],
  ["_", "_"],
])("the attribute %s has the label %s", (key, label) => {
  expect(readableName(key)).toBe(label);
});
