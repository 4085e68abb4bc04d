/**
 * Finds placeholders of other products, which are plain text here, and translates them on request. The forms are those
 * of the products' own documentation.
 */
import { compileTemplate, type Kind } from "./compile.ts";
import { outsideOfRawText } from "./raw-text.ts";

interface ForeignTag {
  /** The tag as written. */
  text: string;
  product: string;
  /** Our tag with the same meaning; undefined if there is none. */
  ours?: string;
}

const ALIASES: Record<string, string> = {
  first_name: "fname first firstname givenname vorname",
  last_name: "lname last lastname surname familyname nachname",
  email: "emailaddress mail recipientemail subscriberemail",
  unsubscribe_url:
    "unsub unsubscribe unsubscribeurl unsubscribelink unsubscriberawurl asmgroupunsubscriberawurl asmgroupunsubscribeurl " +
    "asmglobalunsubscriberawurl unsubcenterurl optouturl optout listunsubscribe tagunsubscribeurl mailinglistunsubscribeurl",
  view_in_browser_url:
    "archive mirror webversion webcopy viewemailurl viewinbrowser viewinbrowserlink viewaspageurl messageurl browserview browserviewurl weblink",
  preferences_url:
    "updateprofile preferences managepreferences preferencesurl manageurl profilecenterurl subscriptioncenterurl asmpreferencesrawurl asmgrouppreferencesurl subscriptionpreferencesurl updatepreferences",
  "company.name": "listcompany company companyname organizationname sendername siteconfigcompany",
  both: "name fullname recipientname subscribername",
};
const NAMES = new Map(
  Object.entries(ALIASES).flatMap(([ours, theirs]) =>
    [ours.replace(/[._]/g, ""), ...theirs.split(" ")].map((name) => [name, ours] as const),
  ),
);

const OWNERS =
  /^\.?(?:(?:contact|subscriber|recipient|person|customer|user|profile|lead|attribs|attributes|params|data|vars)\.)+/i;

const escapedText = (text: string) => text.replace(/[|[\]]/g, "").trim();

/** A name as other products write it (`FNAME`, `contact.FIRSTNAME`, `.Subscriber.Attribs.city`, `First name`). */
function nameOf(given: string): string | undefined {
  const name = given.trim().replace(OWNERS, "").replace(/^\./, "");
  const variable = NAMES.get(name.toLowerCase().replace(/[\s._:-]/g, ""));
  if (variable) return variable;
  if (!/^[\p{L}_][\p{L}\p{N}_ .]*$/u.test(name)) return undefined;
  return name === name.toUpperCase() ? name.toLowerCase() : name;
}

function tagFor(given: string, fallback?: string): string | undefined {
  const name = nameOf(given);
  if (name === undefined) return undefined;
  const otherwise = fallback === undefined ? "" : `|default:${escapedText(fallback)}`;
  return name === "both" ? `[[first_name${otherwise}]] [[last_name]]` : `[[${name}${otherwise}]]`;
}

const conditionOf = (given: string) => {
  const name = nameOf(given);
  return name === undefined ? undefined : `[[#if ${name === "both" ? "first_name" : name}]]`;
};

const QUOTED = `["'“”‘’]([^"'“”‘’]{0,80})["'“”‘’]`;
const LIQUID_VALUE = new RegExp(`^([^|]+?)(?:\\s*\\|\\s*default\\s*[:(]\\s*${QUOTED}\\)?)?$`, "i");
const INSERT = /^insert\s+(\S+)(?:\s+"default=([^"]{0,80})")?$/i;

/** The content of `{{ }}`: Handlebars, Liquid and Go share the brackets. */
function ofBraces(content: string): string | undefined {
  const text = content.trim();
  const block = /^#(if|each)\s+(\S+)$/.exec(text);
  if (block) return block[1] === "each" ? `[[#each ${block[2]}]]` : conditionOf(block[2]!);
  if (text === "else" || text === "/if" || text === "/each") return `[[${text === "else" ? "#else" : text}]]`;
  if (/^this(?:\.\w+)*$|^@index$/.test(text)) return `[[${text}]]`;
  const go = /^-?\s*if\s+(\.\S+)\s*-?$/.exec(text);
  if (go) return conditionOf(go[1]!);
  if (text === "end") return "[[/if]]";
  const insert = INSERT.exec(text);
  if (insert) return tagFor(insert[1]!, insert[2]);
  const value = LIQUID_VALUE.exec(text);
  return value ? tagFor(value[1]!, value[2]) : undefined;
}

function ofLiquidBlock(content: string): string | undefined {
  const text = content.trim();
  const condition = /^if\s+([\w.]+)$/.exec(text);
  if (condition) return conditionOf(condition[1]!);
  if (text === "else") return "[[#else]]";
  if (text === "endif") return "[[/if]]";
  return /^unsubscribe/.test(text) ? "[[unsubscribe_url]]" : undefined;
}

function ofMailchimp(content: string): string | undefined {
  const condition = /^IF:(\w+)$/i.exec(content);
  if (condition) return conditionOf(condition[1]!);
  if (/^ELSE:$/i.test(content)) return "[[#else]]";
  if (/^END:IF$/i.test(content)) return "[[/if]]";
  return /^MC_/i.test(content) ? "" : tagFor(content);
}

interface Form {
  product: string;
  pattern: RegExp;
  /** Builds our own tag from the groups of the match. */
  ours: (first: string, second?: string) => string | undefined;
}

/** Known names in single brackets or percent signs, where any other word may be text. */
const BRACKETED =
  "first[ _]?name|fname|last[ _]?name|lname|full[ _]?name|name|e-?mail(?:[ _]address)?|company(?:[ _]name)?|city|country|unsubscribe|webversion|(?:customer|recipient|subscriber|contact)[ _]name";
const PERCENT =
  "recipient[._]\\w{1,60}|recipient|(?:tag_|mailing_list_)?unsubscribe_url|unsubscribe_email|FIRSTNAME|LASTNAME|FULLNAME|EMAIL|UNSUBSCRIBELINK|WEBCOPY|UPDATELINK";

/** Forms in search order: text matched by one form is not available to later ones. */
const FORMS: readonly Form[] = [
  { product: "Mailchimp", pattern: /\*\|([^|*\n]{1,120})\|\*/g, ours: ofMailchimp },
  { product: "Liquid", pattern: /\{%-?([^%{}\n]{1,200})-?%\}/g, ours: ofLiquidBlock },
  { product: "Handlebars, Liquid or Go", pattern: /\{\{\{?([^{}\n]{1,200})\}?\}\}/g, ours: ofBraces },
  { product: "SendGrid", pattern: /<%=?-?\s*([\w.]{1,80})\s*-?%>/g, ours: tagFor },
  { product: "SendGrid", pattern: /\[%\s*([\w. ]{1,80}?)\s*(?:\|([^%\]]{1,80}))?%\]/g, ours: tagFor },
  {
    product: "Salesforce",
    pattern: /%%=(?:v\(@|AttributeValue\(["'])([\w ]{1,60})["']?\)=%%/gi,
    ours: (name) => tagFor(name),
  },
  { product: "Salesforce", pattern: /%%([A-Za-z_][\w .]{0,60})%%/g, ours: (name) => tagFor(name) },
  { product: "Salesforce", pattern: /\{!([A-Za-z][\w.]{0,80})\}/g, ours: (name) => tagFor(name) },
  { product: "MailerLite", pattern: /(?<!\$)\{\$([A-Za-z_]\w{0,60})\}/g, ours: (name) => tagFor(name) },
  { product: "JavaScript", pattern: /\$\{\s*([A-Za-z_][\w.]{0,60})\s*\}/g, ours: (name) => tagFor(name) },
  {
    product: "Mailgun or ActiveCampaign",
    pattern: new RegExp(`(?<![%\\w])%(${PERCENT})%(?![%\\w])`, "g"),
    ours: (name) => tagFor(name.replace(/^recipient[._]/, "recipient.")),
  },
  {
    product: "another product",
    pattern: new RegExp(`(?<![[\\\\])\\[(${BRACKETED})(?:,\\s*fallback=([^\\]\\n]{0,80}))?\\](?![\\]([])`, "gi"),
    ours: tagFor,
  },
];

const MAX_FOUND = 1_000;

/** Quick test for any of them: most texts have none and are not scanned. */
const SIGNS = /\*\||\{[{%!$]|\$\{|<%|%[\w%]|\[[%a-z]/i;

/** Returns each tag once, in no particular order. */
export function foreignTags(source: string): ForeignTag[] {
  const found = new Map<string, ForeignTag>();
  if (!SIGNS.test(source)) return [];
  outsideOfRawText(source, (part) => {
    let remaining = part;
    for (const { product, pattern, ours } of FORMS) {
      remaining = remaining.replace(pattern, (text: string, first: string, second: unknown) => {
        const translation = ours(first, typeof second === "string" ? second : undefined);
        if (found.size < MAX_FOUND)
          found.set(text, { text, product, ...(translation === undefined ? {} : { ours: translation }) });
        return "\0";
      });
    }
    return part;
  });
  return [...found.values()];
}

const isBlock = (ours: string) => /^\[\[[#/]/.test(ours);

function translated(source: string, takesBlocks: boolean): string {
  return outsideOfRawText(source, (part) =>
    FORMS.reduce(
      (text, { pattern, ours }) =>
        text.replace(pattern, (all: string, first: string, second: unknown) => {
          const translation = ours(first, typeof second === "string" ? second : undefined);
          return translation === undefined || (isBlock(translation) && !takesBlocks) ? all : translation;
        }),
      part,
    ),
  );
}

/** Translates foreign placeholders to ours; conditions only if all of them can be translated. */
export function withoutForeignTags(source: string, kind: Kind): string {
  const translation = translated(source, true);
  return compileTemplate(translation, kind).errors ? translated(source, false) : translation;
}

export const isMjml = (body: string): boolean => /<mj(?:ml|-[a-z]+)[\s/>]/i.test(body);
