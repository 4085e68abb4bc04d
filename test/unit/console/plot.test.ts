import { pageOf, pagerOf } from "../../../services/console/pager.ts";
import { safeTarget } from "../../../services/console/pages/sign-in.ts";
import { plotOf } from "../../../services/console/plot.ts";

const DATES = ["2026-11-20", "2026-11-21", "2026-11-22"];

test("a plot has a line from edge to edge for each series, and a table without empty days, newest first", () => {
  const plot = plotOf("Mail", DATES, { Sent: [0, 50, 100], Bounced: [0, 5, 0] });
  expect(plot.lines.map(({ label, sum, points }) => [label, sum, points])).toEqual([
    ["Sent", 150, "0.0,160.0 300.0,80.0 600.0,0.0"],
    ["Bounced", 5, "0.0,160.0 300.0,152.0 600.0,160.0"],
  ]);
  expect(plot.rows).toEqual([
    { date: "2026-11-22", values: [100, 0] },
    { date: "2026-11-21", values: [50, 5] },
  ]);
});

test("an empty plot, and one of a single day, have numbers for all their points", () => {
  for (const dates of [DATES, DATES.slice(0, 1)]) {
    const { most, lines, rows } = plotOf("Mail", dates, { Sent: dates.map(() => 0) });
    expect([most, rows]).toEqual([1, []]);
    expect(lines[0]!.points).not.toMatch(/NaN|Infinity/);
  }
});

test("a plot of a single hour has a visible line from edge to edge", () => {
  const { lines, rows } = plotOf("Opens", ["2026-11-20 09:00"], { Opened: [4], Clicked: [1] });
  expect(lines.map(({ points }) => points)).toEqual(["0.0,0.0 600.0,0.0", "0.0,120.0 600.0,120.0"]);
  expect(rows).toEqual([{ date: "2026-11-20 09:00", values: [4, 1] }]);
});

test("hours are drawn as bars, those of the second series in front, and an hour without any has none", () => {
  const { hasBars, lines } = plotOf("Opens", DATES, { Opened: [4, 0, 2], Clicked: [1, 0, 0] }, { hasBars: true });
  expect([hasBars, ...lines.map(({ bars }) => bars)]).toEqual([
    true,
    "M30.0 160V0.0h140.0V160zM430.0 160V80.0h140.0V160z",
    "M30.0 160V120.0h140.0V160z",
  ]);
});

test.each(["/app/1/campaigns?page=2", "/app/"])("sign-in redirects to %s", (next) => {
  expect(safeTarget(next)).toBe(next);
});

test("the page links of a list keep the query; an invalid page is the first", () => {
  expect(["0", "-1", "x", "1e3", undefined].map((page) => pageOf(page === undefined ? {} : { page }))).toEqual([
    1, 1, 1, 1, 1,
  ]);
  const paging = { count: 60, next: "n", previous: "p" };
  expect(pagerOf("/app/c/lists", { search: "a&b", page: "2", cursor: "here" }, paging)).toEqual({
    page: 2,
    pages: "3",
    previous: "/app/c/lists?search=a%26b&page=1&cursor=p",
    next: "/app/c/lists?search=a%26b&page=3&cursor=n",
  });
  expect(pagerOf("/app/c/lists", {}, { count: 20, next: null, previous: null })).toMatchObject({
    previous: null,
    next: null,
  });
});
