/** Parses JSON without losing digits: a number that JavaScript cannot represent stays text. */

// A reviver makes parsing several times slower, so it is used only if such a number may occur.
const MAY_LOSE_DIGITS = /[\d.]{16}|\d[eE][+-]?\d{3}/;

/**
 * Significant digits of a decimal number, without sign, point, exponent and surrounding zeros. Uses loops because `0+$`
 * takes quadratic time.
 */
function digitsOf(number: string): string {
  const digits = number.replace(/[eE].*$/, "").replace(/[-+.]/g, "");
  let [from, to] = [0, digits.length];
  while (digits[from] === "0") from++;
  while (to > from && digits[to - 1] === "0") to--;
  return digits.slice(from, to);
}

const isExact = (value: number, source: string): boolean =>
  Number.isFinite(value) && digitsOf(String(value)) === digitsOf(source);

type Reviver = (key: string, value: unknown) => unknown;
/** JSON.parse of ES2026: the reviver gets the source text of a primitive. */
type ParseWithSource = (
  text: string,
  reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
) => unknown;

/** Throws the SyntaxError of JSON.parse. `revive` works like its reviver. */
export function parseExactJson(text: string, revive?: Reviver): unknown {
  if (!MAY_LOSE_DIGITS.test(text)) return JSON.parse(text, revive);
  return (JSON.parse as ParseWithSource)(text, (key, value, { source }) => {
    const kept = typeof value === "number" && source !== undefined && !isExact(value, source) ? source : value;
    return revive ? revive(key, kept) : kept;
  });
}
