/** Validates `variants` and `winner` of a send beyond their shape. Pure. */
import type { FieldErrors } from "../../lib/errors.ts";
import { subjectErrors } from "../../lib/template/template-errors.ts";
import { unknownFieldErrors } from "../../lib/unknown-fields.ts";
import type { Content } from "../contract-content.ts";
import { VariantsAsked } from "../contract-variants.ts";
import { hundredthsOf } from "../expansion/divide-by-share.ts";

export interface GivenVariant {
  subject?: string;
  template_id?: string;
  content?: Content;
  percent: number;
}

export interface GivenWinner {
  metric: "opens" | "clicks";
  after_minutes: number;
}

interface GivenTest {
  variants?: GivenVariant[] | null | undefined;
  winner?: GivenWinner | null | undefined;
  timezone?: unknown;
}

export const atIndex = (n: number, text: string): string => `Item at index ${n}: ${text}`;

const WHOLE = hundredthsOf(100);
const [{ anyOf: variantsShape }, { anyOf: winnerShape }] = [VariantsAsked.variants, VariantsAsked.winner];
const VARIANT_FIELDS = Object.keys(variantsShape[0].items.properties);
const WINNER_FIELDS = Object.keys(winnerShape[0].properties);

/** A mistyped field would make a variant identical to the others. */
function unknownFields(given: object, known: readonly string[]): string[] {
  const names = Object.keys(given).filter((name) => !known.includes(name));
  return Object.entries(unknownFieldErrors(names, known, "all")).map(([name, [text]]) => `${name}: ${text}`);
}

const hasTwoDecimals = (percent: number) => Math.abs(percent * 100 - hundredthsOf(percent)) < 1e-6;

export const NOT_BOTH = "Give either template_id or content, not both.";

const errorsOfVariant = (variant: GivenVariant): string[] => [
  ...unknownFields(variant, VARIANT_FIELDS),
  ...(variant.template_id !== undefined && variant.content !== undefined ? [`content: ${NOT_BOTH}`] : []),
  ...(variant.subject === undefined ? [] : subjectErrors(variant.subject).map((text) => `subject: ${text}`)),
  ...(hasTwoDecimals(variant.percent) ? [] : ["percent: Ensure that there are no more than 2 decimal places."]),
];

function sumError(variants: readonly GivenVariant[], winner: GivenTest["winner"]): string | undefined {
  const sum = variants.reduce((all, { percent }) => all + hundredthsOf(percent), 0);
  const is = `The percentages add up to ${sum / 100}.`;
  if (sum > WHOLE) return `${is} Shares may not add up to more than 100 %.`;
  if (!winner && sum < WHOLE) return `${is} Without a winner, shares must add up to 100 %.`;
  return undefined;
}

/** Recipient time zones would end the test at a different time in each zone. */
const timezoneErrors = ({ variants, timezone }: GivenTest): string[] =>
  variants && timezone != null ? ["Variants cannot be sent by time zone."] : [];

/** Requires a test whose shape is valid. */
export function testErrors(test: GivenTest): FieldErrors {
  const { variants, winner } = test;
  const ofVariants = (variants ?? []).flatMap((variant, n) => errorsOfVariant(variant).map((text) => atIndex(n, text)));
  const ofSum = variants && sumError(variants, winner);
  const ofWinner = [
    ...(winner ? unknownFields(winner, WINNER_FIELDS) : []),
    ...(winner && !variants ? ["A winner needs variants."] : []),
  ];
  const errors: Record<string, string[]> = {
    variants: [...ofVariants, ...(ofSum ? [ofSum] : [])],
    winner: ofWinner,
    timezone: timezoneErrors(test),
  };
  return Object.fromEntries(Object.entries(errors).filter(([, texts]) => texts.length > 0));
}
