/**
 * Draws plots on the server: one SVG line per series, and the same numbers as a table. They need no script, can be
 * printed, and work with screen readers.
 */
const WIDTH = 600;
const HEIGHT = 160;

interface Line {
  label: string;
  sum: number;
  /** `points` of an SVG polyline, in units of the plot. */
  points: string;
  /** The same as bars: `d` of an SVG path. */
  bars: string;
}

export interface Plot {
  title: string;
  /** Name of a table row's period; days on the overview. */
  unit?: string;
  /** Label of the first value; `to`: of the last one. */
  from: string;
  to: string;
  width: number;
  height: number;
  /** Value at the upper edge. */
  most: number;
  lines: Line[];
  hasBars: boolean;
  /** Columns of the table. */
  labels: string[];
  rows: { date: string; values: number[] }[];
}

/**
 * `series`: daily values by label, oldest first; all are in the table, and the first `drawn` in the plot. Days with zeros
 * only are in the lines but not in the table.
 */
export function plotOf(
  title: string,
  dates: readonly string[],
  series: Record<string, readonly number[]>,
  { unit, drawn, hasBars = false }: { unit?: string; drawn?: number; hasBars?: boolean } = {},
): Plot {
  const entries = Object.entries(series);
  const shown = entries.slice(0, drawn);
  const maximum = Math.max(1, ...shown.flatMap(([, values]) => values));
  const x = (day: number) => (dates.length < 2 ? 0 : (day / (dates.length - 1)) * WIDTH).toFixed(1);
  const y = (value: number) => (HEIGHT - (value / maximum) * HEIGHT).toFixed(1);
  const slot = WIDTH / Math.max(1, dates.length);
  const bar = (value: number, day: number) =>
    `M${((day + 0.15) * slot).toFixed(1)} ${HEIGHT}V${y(value)}h${(0.7 * slot).toFixed(1)}V${HEIGHT}z`;
  return {
    title,
    ...(unit === undefined ? {} : { unit }),
    from: dates[0] ?? "",
    to: dates.at(-1) ?? "",
    width: WIDTH,
    height: HEIGHT,
    most: maximum,
    hasBars,
    labels: entries.map(([label]) => label),
    lines: shown.map(([label, values]) => ({
      label,
      sum: values.reduce((sum, value) => sum + value, 0),
      // Draws a single value as a horizontal line; one point would be invisible.
      points:
        values.length === 1
          ? `0.0,${y(values[0]!)} ${WIDTH}.0,${y(values[0]!)}`
          : values.map((value, day) => `${x(day)},${y(value)}`).join(" "),
      bars: values.map((value, day) => (value === 0 ? "" : bar(value, day))).join(""),
    })),
    rows: dates
      .map((date, day) => ({ date, values: entries.map(([, values]) => values[day] ?? 0) }))
      .filter(({ values }) => values.some((value) => value > 0))
      .toReversed(),
  };
}
