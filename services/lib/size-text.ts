/**
 * Formats a number of bytes for people. A unit is 1,024 of the next smaller, as in the limits of the API and the
 * configuration.
 */
const UNITS = ["KB", "MB", "GB", "TB"];

export function sizeText(bytes: number): string {
  if (bytes < 1_000) return `${bytes} bytes`;
  let [value, unit] = [bytes / 1024, 0];
  while (value >= 1_000 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${UNITS[unit]}`;
}

/** Reads "5GB" or "1.5 MB"; undefined for other text. */
export function bytesOf(text: string): number | undefined {
  const [, value, unit] = /^(\d+(?:\.\d+)?) ?([KMGT]B)$/i.exec(text) ?? [];
  return value && unit ? Math.round(Number(value) * 1024 ** (UNITS.indexOf(unit.toUpperCase()) + 1)) : undefined;
}
