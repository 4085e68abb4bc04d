/** SQL text of a column's time as the API shows it: what Date.toISOString() makes of it. */
export const isoTime = (column: string): string =>
  `to_char(${column} at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
