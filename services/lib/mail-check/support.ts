/** Finds features that some email clients do not support, by the data of caniemail.com (support.json, with its source). */
import { readFileSync } from "node:fs";
import { type Finding, MAIL_CLIENTS, type MailClient } from "./finding.ts";
import { HARMLESS } from "./harmless.ts";
import { declarationsOf, type Mail } from "./read-mail.ts";
import { adviceFor } from "./support-advice.ts";

/** One letter for each client: y, n, a (partly) or u (unknown). */
const { features } = JSON.parse(readFileSync(new URL("support.json", import.meta.url), "utf8")) as {
  features: Record<string, string>;
};

const clientsWithout = (feature: string): MailClient[] =>
  feature in HARMLESS || !Object.hasOwn(features, feature)
    ? []
    : MAIL_CLIENTS.filter((_, no) => features[feature]![no] === "n");

/** Values that ask for nothing. */
const USUAL = /^(?:0(?:px|%|em)?|none|normal|auto|initial|unset|inherit|static|visible|baseline)(?:\s*!important)?$/i;

function* inDeclaration(name: string, value: string): Generator<string> {
  if (name.startsWith("mso-") || name.startsWith("-")) return;
  if (!USUAL.test(value)) yield name;
  yield `${name}:${value.toLowerCase()}`;
  for (const [, called] of value.matchAll(/(?<![a-z-])([a-z-]+)\(/gi)) yield `${called!.toLowerCase()}()`;
  for (const [, unit] of value.matchAll(/(?<![\w#.-])-?[\d.]+(ch|rem|vh|vw|vmin|vmax)\b/gi))
    yield `unit ${unit!.toLowerCase()}`;
}

function* inImage(src: string): Generator<string> {
  const [, type] = /^data:image\/([a-z]+)/i.exec(src) ?? /^[^?#]*\.([a-z0-9]{3,4})(?:[?#]|$)/i.exec(src) ?? [];
  if (type) yield `image/${type.toLowerCase()}`;
  if (src.startsWith("data:")) yield "image/base64";
}

function* inSheet(css: string): Generator<string> {
  for (const [rule, name] of css.matchAll(/(@[a-z-]+)[^{;]*/gi)) {
    yield name!.toLowerCase();
    const [, condition] =
      /\(\s*(?:-webkit-min-)?(prefers-color-scheme|prefers-reduced-motion|hover|orientation|device-pixel-ratio)/.exec(
        rule,
      ) ?? [];
    if (condition) yield `@media (${condition})`;
  }
  for (const before of css.split("{")) {
    const selector = before.slice(Math.max(before.lastIndexOf("}"), before.lastIndexOf(";")) + 1);
    for (const [pseudo] of selector.matchAll(/(?<!\()::?[a-z-]+/gi)) yield pseudo.toLowerCase();
  }
  for (const [, declarations] of css.matchAll(/\{([^{}]*)\}/g)) {
    for (const [name, value] of declarationsOf(declarations!)) yield* inDeclaration(name, value);
  }
}

/** Every feature of the mail with the block that uses it. */
function* featuresIn({ elements, sheets }: Mail): Generator<[feature: string, path: string | null]> {
  for (const css of sheets) for (const feature of inSheet(css)) yield [feature, null];
  for (const { name, attributes, style, path } of elements) {
    yield [`<${name}>`, path];
    for (const attribute of Object.keys(attributes)) yield [`[${attribute}]`, path];
    for (const [property, value] of style) for (const feature of inDeclaration(property, value)) yield [feature, path];
    if (name === "img") for (const feature of inImage(attributes.src ?? "")) yield [feature, path];
  }
}

/** One finding for each feature and block. */
export function supportFindings(mail: Mail): Finding[] {
  const found = new Map<string, Finding>();
  for (const [feature, path] of featuresIn(mail)) {
    const key = `${feature} ${path}`;
    if (found.has(key)) continue;
    const clients = clientsWithout(feature);
    if (clients.length > 0)
      found.set(key, { kind: "support", rule: feature, path, clients, ...adviceFor(feature, clients) });
  }
  return [...found.values()];
}
