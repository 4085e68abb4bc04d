import type { Meaning } from "../meanings.ts";

/**
 * Matches any of the phrases, ignoring case. Phrases must not nest repetitions or match an unlimited number of lines,
 * because anybody can send the texts.
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
