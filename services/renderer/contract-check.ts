/** Contract of the checks of a template before its use. */
import { FINDING_KINDS, MAIL_CLIENTS } from "../lib/mail-check/finding.ts";
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

const Finding = Type.Object({
  kind: Described(OneOf(...FINDING_KINDS), "Subject of the finding."),
  rule: Described(
    Type.String(),
    "Name of the rule, such as `contrast`, `alt`, `link-text`, `heading-order`, `language`, `table-role`, `scheme`, `example` or `size`; for `support` the feature that some clients lack.",
    "contrast",
  ),
  severity: Described(
    OneOf("error", "warning"),
    "`error`: some readers cannot read or use a part of the mail; `warning`: it is worse for them.",
  ),
  message: Described(
    Type.String(),
    "The fault, and what readers notice.",
    "The text “Our offers” is hard to read: its contrast is 2.8:1 (#999999 on #ffffff), and 4.5:1 is needed.",
  ),
  fix: Described(Type.String(), "How to fix it.", "Choose a darker or lighter color for the text or its background."),
  path: Nullable(
    Type.String({
      description: "Path of the block in the design; null without a design, and for the whole mail.",
      examples: ["blocks[1].columns[0].blocks[2]"],
    }),
  ),
  clients: Type.Array(OneOf(...MAIL_CLIENTS), {
    description: "Email clients with the fault; empty: all.",
    examples: [["outlook_classic"]],
  }),
});

export const TemplateCheck = Type.Object({
  warnings: Type.Array(Type.String(), {
    description: "Warnings that saving would return; the size is among the findings instead.",
    examples: [['The address "www.example.com" does not open from an email. Use "https://www.example.com" instead.']],
  }),
  size: Type.Integer({ description: "Size of the HTML in bytes.", examples: [18_240] }),
  findings: Type.Array(Finding, {
    description:
      "Findings on accessibility (WCAG 2.2 AA), support by six email clients (data of caniemail.com), size, links and spam: errors first, at most 100.",
  }),
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
  "Extension. Nothing is saved or sent. Each link is requested (HEAD, then GET if that fails), 30 seconds at most in total. Addresses outside the public internet have no status, and are not requested unless this installation allows them (`ALLOW_PRIVATE_NETWORKS`, `ALLOWED_PRIVATE_HOSTS`). Syntax errors return 400, as on saving. With `quick` nothing else is asked: no links are requested, and `spam` is null.";
