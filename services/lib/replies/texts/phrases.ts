import type { Meaning } from "../meanings.ts";

/**
 * Any of the phrases, without case. None may repeat what repeats, or reach over lines without a bound: texts come from
 * strangers.
 */
export const anyOf = (...phrases: string[]): RegExp => new RegExp(phrases.join("|"), "im");

/** One row of the tables of refusals: any of its phrases gives the meaning. An address in the text is `@`. */
export interface Row {
  meaning: Meaning;
  pattern: RegExp;
}

export const phraseRow = (meaning: Meaning, phrases: readonly string[]): Row => ({
  meaning,
  pattern: anyOf(...phrases),
});
