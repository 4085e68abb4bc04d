/** Rules of accessibility for a mail's HTML (WCAG 2.2, levels A and AA). */
import { contrast, LINE_CONTRAST, TEXT_CONTRAST } from "../branding/colours.ts";
import type { Finding } from "./finding.ts";
import type { Mail, MailTable, MailText } from "./read-mail.ts";

type Found = Omit<Finding, "kind" | "clients">;

const MAX_QUOTED = 40;
const quoted = (text: string) => {
  const whole = text.toWellFormed();
  return `“${whole.length > MAX_QUOTED ? `${whole.slice(0, MAX_QUOTED).toWellFormed()}…` : whole}”`;
};

/** Sizes in pixels from which the lower contrast of large text suffices (1.4.3). */
const LARGE = 24;
const LARGE_BOLD = 18.66;

const leastFor = ({ size, isBold }: MailText) =>
  size >= LARGE || (isBold && size >= LARGE_BOLD) ? LINE_CONTRAST : TEXT_CONTRAST;

function* contrastFindings({ texts }: Mail): Generator<Found> {
  const seen = new Set<string>();
  for (const text of texts) {
    const { color, background, path } = text;
    if (color === null || background === null) continue;
    const least = leastFor(text);
    const found = contrast(color, background);
    const key = `${path} ${color} ${background}`;
    if (found >= least || seen.has(key)) continue;
    seen.add(key);
    // Rounded down, so that 4.49 is not shown as sufficient.
    const shown = Math.floor(found * 10) / 10;
    yield {
      rule: "contrast",
      severity: "error",
      message: `The text ${quoted(text.text)} is hard to read: its contrast is ${shown}:1 (${color} on ${background}), and ${least}:1 is needed.`,
      fix: "Choose a darker or lighter color for the text or its background.",
      path,
    };
  }
}

/** Smaller images are icons, lines and counters. */
const ICON = 48;

function* altFindings({ images }: Mail): Generator<Found> {
  for (const { src, alt, width, path } of images) {
    const isSmall = width !== null && width < ICON;
    if (alt !== undefined && (alt.trim() !== "" || isSmall)) continue;
    const name = quoted(src.split(/[?#]/)[0]!.split("/").at(-1) || src);
    yield {
      rule: "alt",
      severity: alt === undefined ? "error" : "warning",
      message: `The image ${name} has no description. People who can't see it, or whose email client blocks images, miss what it says.`,
      fix: "Describe the image in its alt text.",
      path,
    };
  }
}

/** Words that say nothing about the target, in the languages of the service. */
const EMPTY_WORDS = new Set(
  [
    "click here|here|click|link|this link|more",
    "hier|hier klicken|klicken sie hier|klick hier|mehr",
    "ici|cliquez ici|cliquer ici|lien|plus",
    "aquí|haz clic aquí|haga clic aquí|pulsa aquí|enlace|más",
    "هنا|اضغط هنا|انقر هنا|المزيد",
  ].flatMap((line) => line.split("|")),
);
const IS_ADDRESS = /^(?:https?:\/\/|www\.)\S+$/i;

function* linkFindings({ links }: Mail): Generator<Found> {
  for (const { href, text, path } of links) {
    const plain = text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s[\]:/.]/gu, "")
      .trim();
    const common = { rule: "link-text", path, fix: "Write what opens, such as “See all offers”." };
    if (text === "") {
      yield {
        ...common,
        severity: "error",
        message: `The link to ${quoted(href)} has no text. A screen reader cannot say where it leads.`,
      };
    } else if (EMPTY_WORDS.has(plain)) {
      yield {
        ...common,
        severity: "warning",
        message: `The link text ${quoted(text)} does not say where it leads. Screen readers list links without the text around them.`,
      };
    } else if (IS_ADDRESS.test(text)) {
      yield {
        ...common,
        severity: "warning",
        message: `The link text ${quoted(text)} is an address. A screen reader spells it out.`,
      };
    }
  }
}

function* headingFindings({ headings }: Mail): Generator<Found> {
  let before = 0;
  for (const { level, text, path } of headings) {
    // Many mails begin with a heading of level 2 below the logo.
    const most = before === 0 ? 2 : before + 1;
    if (text === "") {
      yield {
        rule: "heading-empty",
        severity: "warning",
        message: "A heading is empty. Screen readers announce it all the same.",
        fix: "Write the heading, or remove it.",
        path,
      };
      continue;
    }
    if (level > most) {
      yield {
        rule: "heading-order",
        severity: "warning",
        message: `The heading ${quoted(text)} has level ${level}, but the one before ${before === 0 ? "is missing" : `has level ${before}`}. People who move through headings expect no gap.`,
        fix: `Use level ${most} for it.`,
        path,
      };
    }
    before = level;
  }
}

function* languageFindings({ language, texts }: Mail): Generator<Found> {
  if (language !== "" || texts.length === 0) return;
  yield {
    rule: "language",
    severity: "warning",
    message: "The email does not say its language, so screen readers may pronounce it by the wrong rules.",
    fix: 'Set the language of the email. In HTML: <html lang="en">.',
    path: null,
  };
}

function tableFault({
  isLayout,
  hasHeader,
  hasTables,
  rows,
  columns,
}: MailTable): Omit<Found, "severity" | "path"> | undefined {
  if (hasHeader) {
    return isLayout
      ? {
          rule: "table-role",
          message: 'A table with header cells has role="presentation", so screen readers read it as plain text.',
          fix: "Remove the role.",
        }
      : undefined;
  }
  if (isLayout) return undefined;
  const isData = !hasTables && rows > 1 && columns > 1;
  if (isData) {
    return {
      rule: "table-header",
      message: "A table has no header cells, so screen readers cannot say which column a value belongs to.",
      fix: 'Make its first row a heading (<th scope="col">). If the table only arranges content, give it role="presentation".',
    };
  }
  return {
    rule: "table-role",
    message: "A table that only arranges content is read out as a table, with rows and columns.",
    fix: 'Give the table role="presentation".',
  };
}

function* tableFindings({ tables }: Mail): Generator<Found> {
  const seen = new Set<string>();
  for (const table of tables) {
    const { path } = table;
    const fault = tableFault(table);
    if (!fault || seen.has(`${fault.rule} ${path}`)) continue;
    seen.add(`${fault.rule} ${path}`);
    yield { ...fault, severity: "warning", path };
  }
}

const RULES = [languageFindings, headingFindings, contrastFindings, altFindings, linkFindings, tableFindings];

export const accessibilityFindings = (mail: Mail): Finding[] =>
  RULES.flatMap((rule) => [...rule(mail)].map((found) => ({ ...found, kind: "accessibility" as const, clients: [] })));
