/** The pure parts of a new campaign: clocks of timezones, A/B forms, kinds of drafts. */
import { changed, errorsOf } from "../../../services/console/pages/compose/draft.ts";
import {
  rowsAskedFor,
  rowsIn,
  variantsIn,
  variantsOf,
  winnerIn,
} from "../../../services/console/pages/compose/variants.ts";
import { isClock } from "../../../services/console/pages/compose/when.ts";

test("a time is recognised, and a day that does not exist is refused", () => {
  expect(["2031-01-01T09:00", "2031-01-01T09:00:30"].map(isClock)).toEqual([true, true]);
  expect(["", "2031-13-01T09:00", "2031-02-30T09:00", "tomorrow", "2031-01-01"].some(isClock)).toBe(false);
});

test("an A/B form becomes the API's variants and is restored unchanged; invalid numbers are left for the API to refuse", () => {
  const form = {
    ab: "on",
    "variant.0.percent": "20",
    "variant.2.subject": " Six books ",
    "variant.2.template_id": "t",
    "variant.2.percent": "many",
    "variant.3.subject": "Own",
    "variant.3.template_id": "written",
    "variant.3.body": "<p>Hi</p>",
    "variant.3.percent": "5",
    winner: "opens",
    after_hours: "1.5",
  };
  const body = variantsOf(form, {});
  expect(body).toEqual({
    variants: [
      { percent: 20 },
      { subject: "Six books", template_id: "t", percent: "many" },
      { content: { subject: "Own", body: "<p>Hi</p>" }, percent: 5 },
    ],
    winner: { metric: "opens", after_minutes: 90 },
  });
  const shown = ({ letter, subject, chosen, percent }: ReturnType<typeof rowsIn>[number]) =>
    [letter, subject, chosen, percent].join();
  expect(rowsIn(body, 4).map(shown)).toEqual(["A,,,20", "B,Six books,t,many", "C,Own,written,5", "D,,,"]);
  expect(rowsIn({}).map(shown)).toEqual(["A,,,50", "B,,,50"]);
  expect(rowsAskedFor({ ...form, "variant.2.percent": "", do: "add" })).toBe(4);
  expect(winnerIn(body)).toEqual({ metric: "opens", hours: "1.5" });
  expect(variantsOf({ ...form, ab: "" }, {})).toEqual({ variants: undefined, winner: undefined });
  expect(variantsIn({ variants: "nonsense" })).toEqual([]);
});

describe("a change of a draft", () => {
  const receivers = [{ email: "a@b.example" }];

  test("has the kind of send of its fields, and no field that this send does not accept", () => {
    expect(changed({}, { list_id: "l" })).toEqual({ kind: "to-list", body: { list_id: "l" } });
    expect(changed({ list_id: "l", variants: [], timezone: "recipient" }, { list_id: undefined, receivers })).toEqual({
      kind: "to-receivers",
      body: { receivers },
    });
    expect(changed({ receivers, template_id: "t" }, { template_id: undefined, subject: "S" })).toEqual({
      kind: "custom",
      body: { receivers, subject: "S" },
    });
    expect(changed({ receivers, subject: "S", body: "B" }, { receivers: undefined, segment_id: "s" })).toEqual({
      kind: "to-list",
      body: { content: { subject: "S", body: "B" }, segment_id: "s" },
    });
    const content = { subject: "S", body: "B" };
    expect(changed({ list_id: "l", content }, { list_id: undefined, receivers })).toEqual({
      kind: "custom",
      body: { receivers, ...content },
    });
  });

  test("that the send would refuse is reported in the step of its field, and once", () => {
    const errors = { list_id: ["a"], utm: ["b"], nonsense: ["c"], scheduled_for: ["d"] };
    expect(errorsOf("whom", errors)).toEqual({ list_id: ["a"], "": ["nonsense: c"] });
    expect(errorsOf("what", errors)).toEqual({});
    expect(errorsOf("from", errors)).toEqual({ utm: ["b"] });
    expect(errorsOf("when", errors)).toEqual({ scheduled_for: ["d"] });
  });
});
