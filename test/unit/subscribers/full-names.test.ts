import { partsOf } from "../../../services/subscribers/import/full-names.ts";

describe("a name in one column", () => {
  test.each([
    ["Anna Example", "Anna", "Example"],
    ["Example, Anna", "Anna", "Example"],
    ["van der Berg, Anna Maria", "Anna Maria", "van der Berg"],
    ["Max Muster, Jr.", "Max", "Muster, Jr."],
    ["Dr. Ida Sample, MBA", "Dr. Ida", "Sample, MBA"],
    ["Prof. Dr. Ida Sample", "Prof. Dr. Ida", "Sample"],
    ["Sample, Ida E.", "Ida E.", "Sample"],
    ["Li, Ma", "Ma", "Li"],
    ["Rosa Bakery, GmbH", "Rosa Bakery, GmbH", ""],
    ["Acme Widgets, Inc.", "Acme Widgets, Inc.", ""],
    ["Kids, Youth and Parents Line", "Kids, Youth and Parents Line", ""],
    ["Smith, Jones, Miller", "Smith, Jones, Miller", ""],
    ["de la Cruz Maria", "de la Cruz Maria", ""],
    ["De Niro", "De", "Niro"],
    ["Cher", "Cher", ""],
    ["Anna,", "Anna", ""],
    ["", "", ""],
  ])("is split: %s has the first name %j and the last name %j", (text, first, last) => {
    expect(partsOf(text)).toEqual([first, last]);
  });
});
