/** What is looked at in a template before it is used. */
import { Described, Nullable, OneOf, Type } from "../lib/shapes.ts";
import { MAX_LINKS } from "./check/check-links.ts";

const Link = Type.Object({
  url: Described(Type.String({ examples: ["https://example.com/offers"] }), "An address (URL)."),
  status: Nullable(
    Type.Integer({
      description: "Of the last answer, redirects followed; null where none came in time.",
      examples: [200],
    }),
  ),
  kind: Described(OneOf("link", "image"), "What the address is in the mail."),
  ok: Type.Boolean({ description: "The last answer, behind at most five redirects, is a success." }),
});

const Spam = Type.Object({
  score: Type.Number({
    description: "The sum of what the rules add; filters refuse from about 15 on.",
    examples: [1.2],
  }),
  symbols: Type.Record(
    Type.String(),
    Type.Object({ score: Type.Number(), description: Type.String({ examples: ["Message has no Date header"] }) }),
    {
      description: "The rules that apply, by name, with what each adds.",
      examples: [{ MISSING_SUBJECT: { score: 2, description: "Subject is missing" } }],
    },
  ),
});

export const TemplateCheck = Type.Object({
  warnings: Type.Array(Type.String(), {
    description: "As saving it would answer with.",
    examples: [['The address "www.example.com" does not open from an email. Use "https://www.example.com" instead.']],
  }),
  size: Type.Integer({ description: "Bytes of the HTML.", examples: [18_240] }),
  links: Type.Array(Link, {
    description: `The http and https addresses of the body, each once and without those that have variables: first its links, then its images and backgrounds; the first ${MAX_LINKS}.`,
  }),
  spam: Nullable(
    Type.Object(Spam.properties, {
      description:
        "What rspamd says of the mail to a sample recipient; null where this installation has none (`SPAM_CHECK_URL`), or it did not answer.",
    }),
  ),
});

export const CHECK_DESCRIPTION =
  "Extension. Nothing is saved or sent. Each link is asked for (HEAD, then GET where that fails), 30 seconds at most for all of it; addresses that are not on the public internet are not asked, and have no status. Syntax errors are 400 as at saving.";
