/** Values that a campaign's pages derive from the API's responses. */
import { withMarks } from "../../../services/console/link-marks.ts";
import { changesOf } from "../../../services/console/pages/campaign-edit.ts";
import { timelineOf } from "../../../services/console/timeline.ts";

const hit = (clock: string, opens: number, clicks = 0) => ({ clock, opens, clicks });

test("a timeline has no gaps and loses nothing: hourly for three days, then daily, then weekly", () => {
  expect(timelineOf([])).toBeUndefined();
  expect(timelineOf([hit("2026-11-20T10:00:00", 3, 1), hit("2026-11-20T12:00:00", 2)])).toEqual({
    step: "hour",
    dates: ["20 Nov 2026, 10:00", "20 Nov 2026, 11:00", "20 Nov 2026, 12:00"],
    opens: [3, 0, 2],
    clicks: [1, 0, 0],
  });
  for (const [last, step, points] of [
    ["2026-11-23T09:00:00", "hour", 72],
    ["2026-11-24T09:00:00", "day", 5],
    ["2027-11-20T10:00:00", "day", 366],
    ["2036-11-20T10:00:00", "week", 522],
  ] as const) {
    const { dates, opens, step: found } = timelineOf([hit("2026-11-20T10:00:00", 3), hit(last, 4)])!;
    expect([found, dates.length, opens.reduce((sum, n) => sum + n, 0)]).toEqual([step, points, 7]);
  }
});

const clicks = new Map([
  ["https://a.example/?x=1&y=2", "7 · 70.0 %"],
  ["https://b.example/", "<b>"],
]);
const marked = (html: string) =>
  withMarks(html, (href) => clicks.get(href))
    .replaceAll(/<span style="[^"]+">/g, "<span>")
    .replace(/<style>.*<\/style>$/, "");

test.each([
  ["<p>plain", "<p>plain"],
  [
    '<a href="https://a.example/?x=1&amp;y=2">a</a>.',
    '<a data-href="https://a.example/?x=1&amp;y=2">a</a><span>7 · 70.0 %</span>.',
  ],
  [
    "<A HREF = https://b.example/ ><img src=x></A>",
    "<A data-HREF = https://b.example/ ><img src=x></A><span>&lt;b&gt;</span>",
  ],
  ['<a title="x href=1" href="#">top</a>', '<a title="x href=1" data-href="#">top</a>'],
  ['<link href="x.css"><a href=x href=y>z', '<link href="x.css"><a data-href=x data-href=y>z'],
  [
    '<td><a href="https://b.example/">open</td>',
    '<td><a data-href="https://b.example/">open<span>&lt;b&gt;</span></td>',
  ],
  ['<!-- <a href="https://b.example/">no</a> -->', '<!-- <a href="https://b.example/">no</a> -->'],
])("links are marked after their text, and lead nowhere: %s", (html, expected) => {
  expect(marked(html)).toBe(expected);
});

const SCHEDULED = {
  name: "Later",
  subject: "Hello [[first_name]]",
  scheduled_for: "2031-01-02T03:04:05.000Z",
} as Parameters<typeof changesOf>[1];
const UNCHANGED = { name: "Later", subject: "Hello [[first_name]]", scheduled_for: "2031-01-02T03:04" };

test("a form sends only what was changed", () => {
  expect(changesOf({ ...UNCHANGED, template: "", audience: "" }, SCHEDULED)).toEqual({});
  const list = "0199f0a2-7c1e-7bd4-9c0a-4b1e2d3f4a5d";
  expect(changesOf({ ...UNCHANGED, name: "Now", audience: `segment:${list}` }, SCHEDULED)).toEqual({
    name: "Now",
    segment_id: list,
  });
  expect(changesOf({ ...UNCHANGED, audience: `list:${list}` }, SCHEDULED)).toEqual({ list_id: list });
});
