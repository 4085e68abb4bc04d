import { counter, gauge, histogram, metricsText } from "../../../services/lib/metrics.ts";

const linesOf = (name: string) =>
  metricsText()
    .split("\n")
    .filter((line) => line.includes(name));

describe("metrics", () => {
  test("a counter counts per labels, whose values are quoted", () => {
    const count = counter("test_counted_total", "Counted.");
    count({ kind: 'a"b\\\n' });
    count({ kind: 'a"b\\\n' }, 2);
    count();
    expect(linesOf("test_counted_total")).toEqual([
      "# HELP test_counted_total Counted.",
      "# TYPE test_counted_total counter",
      'test_counted_total{kind="a\\"b\\\\\\n"} 3',
      "test_counted_total 1",
    ]);
  });

  test("a histogram's buckets are cumulative", () => {
    const observe = histogram("test_seconds", "Took.", [0.1, 1]);
    for (const seconds of [0.05, 0.1, 0.5, 7]) observe({ route: "/x/" }, seconds);
    expect(linesOf("test_seconds_")).toEqual([
      'test_seconds_bucket{route="/x/",le="0.1"} 2',
      'test_seconds_bucket{route="/x/",le="1"} 3',
      'test_seconds_bucket{route="/x/",le="+Inf"} 4',
      'test_seconds_sum{route="/x/"} 7.65',
      'test_seconds_count{route="/x/"} 4',
    ]);
  });

  test("a gauge is read when it is asked for", () => {
    let value = 1;
    gauge("test_gauge", "Now.", () => value);
    value = 2;
    expect(linesOf("test_gauge").at(-1)).toBe("test_gauge 2");
  });
});
