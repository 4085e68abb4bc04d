/**
 * Writes services/lib/mail-check/support.json from a checkout of https://github.com/hteumeuleu/caniemail (MIT): the
 * features that some of our email clients do not support. Usage: node scripts/write-mail-support.ts DIRECTORY
 */
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { MAIL_CLIENTS } from "../services/lib/mail-check/finding.ts";

/** Families and platforms of caniemail. New Outlook renders as Outlook.com does. */
const PLATFORMS: Record<(typeof MAIL_CLIENTS)[number], [family: string, platforms: string[]]> = {
  gmail: ["gmail", ["desktop-webmail", "ios", "android"]],
  outlook_classic: ["outlook", ["windows"]],
  outlook: ["outlook", ["outlook-com"]],
  apple_mail: ["apple-mail", ["macos", "ios"]],
  yahoo: ["yahoo", ["desktop-webmail", "ios", "android"]],
  samsung: ["samsung-email", ["android"]],
};

type Stats = Record<string, Record<string, Record<string, string>> | undefined>;
/** Support in the newest tested version: "y", "n", "a" (partial) or "u" (unknown). */
const newest = (versions: Record<string, string> = {}): string => Object.values(versions).at(-1)?.trim()[0] ?? "u";

/** The worst of a client's platforms. */
function supportIn(stats: Stats, client: (typeof MAIL_CLIENTS)[number]): string {
  const [family, platforms] = PLATFORMS[client];
  const found = platforms.map((platform) => newest(stats[family]?.[platform]));
  return ["n", "a", "y"].find((one) => found.includes(one)) ?? "u";
}

const SKIPPED =
  /^_|^css-selector|nesting|comments|sytem-ui|intrinsic|logical|individual|longhand|columns?-|modern-color/;

/** Names of a feature as support.ts looks them up: `gap`, `display:flex`, `:hover`, `@media`, `<video>`, `[role]`. */
function namesOf(slug: string, title: string): string[] {
  if (SKIPPED.test(slug)) return [];
  const [, image] = /^image-(\w+)$/.exec(slug) ?? [];
  if (image) return [`image/${image}`];
  const [, unit] = /^css-unit-(\w+)$/.exec(slug) ?? [];
  if (unit) return unit === "calc" ? ["calc()"] : [`unit ${unit}`];
  const [, pseudo] = /^css-pseudo-((?:class|element)-.+)$/.exec(slug) ?? [];
  if (pseudo) return [pseudo.replace(/^class-/, ":").replace(/^element-/, "::")];
  const [, media] = /^css-at-media-(.+)$/.exec(slug) ?? [];
  if (media) return [`@media (${media})`];
  if (slug === "css-variables") return ["var()"];
  if (slug === "css-important") return ["!important"];
  if (slug.startsWith("html-")) {
    const elements = [...title.matchAll(/<(\w+)>/g)].map(([tag]) => tag);
    if (elements.length > 0) return slug === "html-h1-h6" ? [] : elements;
    const [, attribute] = /^([a-z-]+)(?: and sizes)? attributes?$/.exec(title) ?? [];
    return attribute ? [`[${attribute}]`] : [];
  }
  if (!slug.startsWith("css-")) return [];
  return title
    .replace(/ (?:CSS )?property$| shorthand$/g, "")
    .split(/, | & /)
    .map((name) => name.trim().replace(": ", ":"))
    .filter((name) => /^@?[a-z-]+(?:\(\)|:[a-z]+)?$/.test(name));
}

const [directory] = process.argv.slice(2);
if (!directory) throw new Error("Name the directory of a checkout of caniemail.");
const root = join(directory, "_features");
const features: Record<string, string> = {};
for (const file of readdirSync(root).toSorted()) {
  const front = readFileSync(join(root, file), "utf8");
  const title = /^title:\s*"?(.*?)"?\s*$/m.exec(front)?.[1]?.replaceAll('\\"', '"') ?? "";
  // On one line, because YAML requires an indentation that these files do not have.
  const rest = front
    .slice(front.search(/^stats:/m))
    .replaceAll(/#[^"\n]*$/gm, "")
    .replaceAll(/\s+/g, " ");
  const [, stats] = /^stats: (\{.*?\})(?= (?:"?notes|links|---))/.exec(rest) ?? [];
  if (!stats) throw new Error(`${file} has no stats.`);
  const support = MAIL_CLIENTS.map((client) => supportIn(parse(stats, { uniqueKeys: false }) as Stats, client)).join(
    "",
  );
  if (!support.includes("n")) continue;
  for (const name of namesOf(file.replace(/\.md$/, ""), title)) features[name] = support;
}
const git = (...words: string[]) => execFileSync("git", ["-C", directory, ...words], { encoding: "utf8" }).trim();
const about = {
  source: "https://github.com/hteumeuleu/caniemail",
  license: "MIT, Copyright (c) 2019 Rémi Parmentier",
  commit: git("rev-parse", "HEAD"),
  date: git("log", "-1", "--format=%cs"),
  clients: MAIL_CLIENTS,
  features,
};
writeFileSync("services/lib/mail-check/support.json", `${JSON.stringify(about, null, 2)}\n`);
