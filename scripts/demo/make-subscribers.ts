/** Writes subscribers.csv: 1,000 fictitious people, the same in every run. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Language, languages } from "./people.ts";

const PER_LANGUAGE = 100;

/** Deterministic generator (mulberry32), so that the file stays the same. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const next = random(1_000);
const pick = <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)]!;

const SPECIAL: Record<string, string> = { ß: "ss", ł: "l", ı: "i", ø: "o", æ: "ae" };
const latin = (name: string) =>
  name
    .toLowerCase()
    .replace(/[ßłıøæ]/g, (char) => SPECIAL[char]!)
    .normalize("NFD")
    .replace(/[^a-z]/g, "");

function names(text: string): { own: string; address: string }[] {
  return text.split(" ").map((name) => {
    const [own, address] = name.split("=") as [string, string?];
    return { own, address: address ?? latin(own) };
  });
}

const cell = (text: string) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

function people({ code, greeting, headline, domains, cities, first, last }: Language): string[] {
  const firsts = names(first);
  const lasts = names(last);
  const used = new Set<string>();
  const rows: string[] = [];
  while (rows.length < PER_LANGUAGE) {
    const given = pick(firsts);
    const family = pick(lasts);
    const number = next() < 0.4 ? `${Math.floor(next() * 90) + 10}` : "";
    const address = `${given.address}${pick([".", "_", ""])}${family.address}${number}@${pick(domains)}`;
    if (used.has(address)) continue;
    used.add(address);
    const member = next() < 0.25 ? "true" : "false";
    rows.push([address, given.own, family.own, code, greeting, headline, pick(cities), member].map(cell).join(","));
  }
  return rows;
}

const header = "email,first_name,last_name,language,greeting,headline,city,member";
const rows = languages.flatMap(people);
writeFileSync(join(import.meta.dirname, "subscribers.csv"), `${[header, ...rows].join("\n")}\n`);
