import { counter, gauge, histogram, readMetrics } from "../../../services/lib/metrics.ts";

const linesOf = async (name: string) => (await readMetrics()).split("\n").filter((line) => line.includes(name));

describe("metrics", () => {
  test("a counter counts per labels, with quoted values", async () => {
    const counted = counter("test_counted_total", "Counted.", ["kind"]);
    counted.inc({ kind: 'a"b\\\n' });
    counted.inc({ kind: 'a"b\\\n' }, 2);
    counted.inc({ kind: "c" });
    expect(await linesOf("test_counted_total")).toEqual([
      "# HELP test_counted_total Counted.",
      "# TYPE test_counted_total counter",
      'test_counted_total{kind="a\\"b\\\\\\n"} 3',
      'test_counted_total{kind="c"} 1',
    ]);
  });

  test("a counter or histogram continues when its service starts again", async () => {
    const restarted = () => counter("test_restarted_total", "Counted.", ["kind"]);
    for (let n = 0; n < 2; n++) restarted().inc({ kind: "a" });
    expect((await linesOf("test_restarted_total")).at(-1)).toBe('test_restarted_total{kind="a"} 2');
    for (let n = 0; n < 2; n++) histogram("test_again_seconds", "Took.", ["kind"], [1]).observe({ kind: "a" }, 0.5);
    expect((await linesOf("test_again_seconds")).at(-1)).toBe('test_again_seconds_count{kind="a"} 2');
  });

  test("an undeclared label is refused", () => {
    const counted = counter<string>("test_declared_total", "Counted.", ["kind"]);
    expect(() => counted.inc({ email: "a@b.example" })).toThrow("email");
  });

  test("a histogram's buckets are cumulative", async () => {
    const took = histogram("test_seconds", "Took.", ["route"], [0.1, 1]);
    for (const seconds of [0.05, 0.1, 0.5, 7]) took.observe({ route: "/x/" }, seconds);
    expect(await linesOf("test_seconds_")).toEqual([
      'test_seconds_bucket{le="0.1",route="/x/"} 2',
      'test_seconds_bucket{le="1",route="/x/"} 3',
      'test_seconds_bucket{le="+Inf",route="/x/"} 4',
      'test_seconds_sum{route="/x/"} 7.65',
      'test_seconds_count{route="/x/"} 4',
    ]);
  });

  test("a gauge is read on request", async () => {
    let value = 1;
    gauge("test_gauge", "Now.", () => value);
    value = 2;
    expect((await linesOf("test_gauge")).at(-1)).toBe("test_gauge 2");
  });
});
