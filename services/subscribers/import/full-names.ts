/**
 * Splits a name in one column into first and last name.
 *
 * | text                                           | first           | last         |
 * |------------------------------------------------|-----------------|--------------|
 * | `Ada Lovelace`                                 | Ada             | Lovelace     |
 * | `Lovelace, Ada` (family, given)                | Ada             | Lovelace     |
 * | `Max Muster, Jr.` (suffix or degree)           | Max             | Muster, Jr.  |
 * | `Dr. Ida Sample` (title)                       | Dr. Ida         | Sample       |
 * | `Rosa Bakery, GmbH` (legal form)               | the whole text  |              |
 * | `Kids, Youth and Parents Line` (two commas)    | the whole text  |              |
 * | `de la Cruz Maria` (begins with a particle)    | the whole text  |              |
 */
import { squashed } from "./status-words.ts";

const words = (text: string): Set<string> => new Set(text.split(/\s+/));

const SUFFIXES = words(`jr sr jnr snr junior senior ii iii iv esq phd md mba msc bsc ma ba bs ms mph dds dvm jd llm cpa
  pmp rn edd dphil dipling dipl ing mag bakk cfa pe obe cbe mbe`);
const TITLES = words(
  "dr prof professor mr mrs ms miss mx herr frau sir dame rev fr sr mag ing dipling dra sra don dona",
);
const LEGAL_FORMS =
  words(`gmbh mbh ggmbh ag kg kgaa ohg gbr ug ek ev eg se inc incorporated ltd limited llc llp lp plc corp
  corporation co company sa sas sarl srl spa sl slu bv nv oy oyj ab as asa aps sro doo kft zoo pty pte ltda`);
const PARTICLES = words("de da di do dos du del della van von der den ten ter la le el al bin ibn");
const CONJUNCTIONS = words("and und et y e og och ja & +");
const MOST_GIVEN_NAMES = 3;

type Parts = [first: string, last: string];

const wordsOf = (text: string): string[] => text.split(/\s+/).filter((word) => word !== "");
/** Short words may also be given names (Ma, Ed, Ag), so they count only in capitals or with a full stop. */
function isOneOf(known: Set<string>, word: string): boolean {
  const bare = squashed(word);
  return known.has(bare) && (bare.length > 2 || /\.|\p{Lu}.*\p{Lu}/u.test(word) || bare.endsWith("r"));
}

/** A title belongs to the given name. */
function split(name: string): Parts {
  const parts = wordsOf(name);
  if (PARTICLES.has(parts[0] ?? "")) return [name, ""];
  const titles = parts.findIndex((word) => !isOneOf(TITLES, word));
  const given = titles === -1 ? parts.length : Math.min(titles + 1, parts.length);
  return [parts.slice(0, given).join(" "), parts.slice(given).join(" ")];
}

export function partsOf(fullName: string): Parts {
  const [before, after, ...more] = fullName.split(",").map((part) => part.trim()) as [string, string?, ...string[]];
  if (after === undefined || after === "") return split(before);
  const behind = wordsOf(after);
  if (more.length > 0 || before === "" || behind.some((word) => isOneOf(LEGAL_FORMS, word))) return [fullName, ""];
  if (behind.every((word) => isOneOf(SUFFIXES, word) || isOneOf(TITLES, word))) {
    const [first, last] = split(before);
    return last === "" ? [fullName, ""] : [first, `${last}, ${after}`];
  }
  const isGiven = behind.length <= MOST_GIVEN_NAMES && !behind.some((word) => CONJUNCTIONS.has(word));
  return isGiven ? [after, before] : [fullName, ""];
}
