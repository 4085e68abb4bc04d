/**
 * Plots as the server draws them: a line for each series in SVG, and the same numbers as a table. They need no script, print,
 * and can be read aloud.
 */
const WIDTH = 600;
const HEIGHT = 160;

interface Line {
  label: string;
  sum: number;
  /** Of a polyline, in the plot's own units. */
  points: string;
}

export interface Plot {
  title: string;
  /** What a row of the table is; the overview's are days. */
  unit?: string;
  /** Of the first and the last value. */
  from: string;
  to: string;
  width: number;
  height: number;
  /** What the upper edge stands for. */
  most: number;
  lines: Line[];
  rows: { date: string; values: number[] }[];
}

/** `series` by label: a value for each day, the oldest first. Days without anything are part of the line, and not of the table. */
export function plotOf(
  title: string,
  dates: readonly string[],
  series: Record<string, readonly number[]>,
  unit?: string,
): Plot {
  const entries = Object.entries(series);
  const most = Math.max(1, ...entries.flatMap(([, values]) => values));
  const x = (day: number) => (dates.length < 2 ? 0 : (day / (dates.length - 1)) * WIDTH).toFixed(1);
  const y = (value: number) => (HEIGHT - (value / most) * HEIGHT).toFixed(1);
  return {
    title,
    ...(unit === undefined ? {} : { unit }),
    from: dates[0] ?? "",
    to: dates.at(-1) ?? "",
    width: WIDTH,
    height: HEIGHT,
    most,
    lines: entries.map(([label, values]) => ({
      label,
      sum: values.reduce((sum, value) => sum + value, 0),
      // A line of one point would be invisible: it goes from edge to edge.
      points:
        values.length === 1
          ? `0.0,${y(values[0]!)} ${WIDTH}.0,${y(values[0]!)}`
          : values.map((value, day) => `${x(day)},${y(value)}`).join(" "),
    })),
    rows: dates
      .map((date, day) => ({ date, values: entries.map(([, values]) => values[day] ?? 0) }))
      .filter(({ values }) => values.some((value) => value > 0))
      .toReversed(),
  };
}
