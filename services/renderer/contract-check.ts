/** Contract of the checks of a template before its use. */
import { Described, Nullable, OneOf, Type } from "../lib/shapes.ts";
import { MAX_LINKS } from "./check/check-links.ts";

const Link = Type.Object({
  url: Described(Type.String({ examples: ["https://example.com/offers"] }), "URL."),
  status: Nullable(
    Type.Integer({
      description: "Status of the final response after redirects; null if none arrived in time.",
      examples: [200],
    }),
  ),
  kind: Described(OneOf("link", "image"), "Use of the address in the mail."),
  path: Type.Optional(
    Described(Type.String(), "Place of the address in the design.", "blocks[1].columns[0].blocks[2].href"),
  ),
  ok: Type.Boolean({ description: "True if the final response, after at most five redirects, is a success." }),
});

const Spam = Type.Object({
  score: Type.Number({
    description: "Sum of all rules; filters refuse from about 15.",
    examples: [1.2],
  }),
  symbols: Type.Record(
    Type.String(),
    Type.Object({ score: Type.Number(), description: Type.String({ examples: ["Message has no Date header"] }) }),
    {
      description: "Rules that matched, by name, with the score of each.",
      examples: [{ MISSING_SUBJECT: { score: 2, description: "Subject is missing" } }],
    },
  ),
});

export const TemplateCheck = Type.Object({
  warnings: Type.Array(Type.String(), {
    description: "Warnings that saving would return.",
    examples: [['The address "www.example.com" does not open from an email. Use "https://www.example.com" instead.']],
  }),
  size: Type.Integer({ description: "Size of the HTML in bytes.", examples: [18_240] }),
  links: Type.Array(Link, {
    description: `The http and https addresses of the body, without duplicates and without those that contain variables: links first, then images and backgrounds; at most ${MAX_LINKS}.`,
  }),
  spam: Nullable(
    Type.Object(Spam.properties, {
      description:
        "Result of rspamd for the mail to a sample recipient; null if this installation has no spam check (`SPAM_CHECK_URL`) or it did not answer.",
    }),
  ),
});

export const CHECK_DESCRIPTION =
  "Extension. Nothing is saved or sent. Each link is requested (HEAD, then GET if that fails), 30 seconds at most in total. Addresses outside the public internet are not requested and have no status. Syntax errors return 400, as on saving.";
