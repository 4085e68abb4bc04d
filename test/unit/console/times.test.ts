import { agoOf, clockOf, dayOf, timeOf } from "../../../services/console/times.ts";

const AT = "2026-07-01T23:30:00.000Z";

test("a time is shown in its zone with the zone's name, and a day is that of the zone", () => {
  expect([timeOf(AT, "UTC"), timeOf(AT, "Asia/Tokyo"), timeOf(null, "UTC")]).toEqual([
    "2026-07-01 23:30 UTC",
    "2026-07-02 08:30 (Asia/Tokyo)",
    "–",
  ]);
  expect([dayOf(AT, "America/New_York"), dayOf(AT, "Asia/Tokyo")]).toEqual(["2026-07-01", "2026-07-02"]);
  expect(clockOf(AT, "No/Such_Zone")).toBe("2026-07-01 23:30");
});

test.each([
  [0, "just now"],
  [-59, "just now"],
  [-60, "1 minute ago"],
  [-3 * 3_600, "3 hours ago"],
  [-6 * 86_400, "6 days ago"],
  [-8 * 86_400, "2026-07-02"],
  [2 * 3_600, "in 2 hours"],
])("a time in %s seconds is shown as %s", (seconds, text) => {
  expect(agoOf(AT, "Asia/Tokyo", Date.parse(AT) - seconds * 1_000)).toBe(
    text === "2026-07-02" ? dayOf(AT, "Asia/Tokyo") : text,
  );
});
