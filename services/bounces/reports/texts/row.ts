import type { Meaning } from "../meanings.ts";

/** One row of the tables: any of its phrases gives the meaning. */
export interface Row {
  meaning: Meaning;
  pattern: RegExp;
}

/** Phrases are patterns without case; an address in the text is `@`. None may repeat what repeats: texts come from strangers. */
export const row = (meaning: Meaning, phrases: readonly string[]): Row => ({
  meaning,
  pattern: new RegExp(phrases.join("|"), "i"),
});
