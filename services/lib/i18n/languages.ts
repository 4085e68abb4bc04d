/**
 * Selects the language of a page: the first of the reader's languages that has a catalogue, else the company's, else
 * English.
 */
import { ar } from "./ar.ts";
import { de } from "./de.ts";
import { type Catalogue, en } from "./en.ts";
import { es } from "./es.ts";
import { fr } from "./fr.ts";

export const catalogues: Record<string, Catalogue> = { en, de, fr, es, ar };

interface AcceptedTag {
  tag: string;
  weight: number;
}

/** Parses an Accept or Accept-Language header, such as "de-CH, fr;q=0.8, *;q=0.1", by weight, then position. */
export function parseAccept(header: string): AcceptedTag[] {
  return header
    .slice(0, 500)
    .split(",")
    .map((part) => {
      const [tag = "", ...parameters] = part.trim().split(";");
      const q = parameters.map((parameter) => /^\s*q=([\d.]+)/.exec(parameter)?.[1]).find(Boolean);
      return { tag: tag.trim().toLowerCase(), weight: q === undefined ? 1 : Number(q) };
    })
    .filter(({ tag, weight }) => tag !== "" && weight > 0)
    .toSorted((a, b) => b.weight - a.weight);
}

export function catalogueFor(acceptLanguage: string, otherwise = "en"): Catalogue {
  for (const { tag } of parseAccept(acceptLanguage)) {
    const [language] = tag.split("-");
    if (Object.hasOwn(catalogues, language!)) return catalogues[language!]!;
  }
  return (Object.hasOwn(catalogues, otherwise) && catalogues[otherwise]) || en;
}
