import { TEMPLATE_MODES, type TemplateMode } from "../../models/template.ts";
import type { ServiceContract } from "../define.ts";
import { DesignTree } from "../lib/design/shape.ts";
import {
  ById,
  CreatedAt,
  Described,
  Filter,
  Id,
  ListQuery,
  Name,
  Nothing,
  Nullable,
  OneOf,
  Page,
  Patch,
  Text,
  Time,
  Type,
  UpdatedAt,
} from "../lib/shapes.ts";
import { MAX_BODY_LENGTH, MAX_SUBJECT_LENGTH } from "../lib/template/compile.ts";
import { ContentFields, ContentView } from "../lib/template/content-shapes.ts";
import { CHECK_DESCRIPTION, TemplateCheck } from "./contract-check.ts";
import { RESTORE, versions } from "./contract-versions.ts";

const Mode = Type.Unsafe<TemplateMode>({
  ...OneOf(...TEMPLATE_MODES),
  examples: ["mjml"],
  description:
    "`mjml` is an extension: the body is MJML, compiled when it is saved. `basic` and `visual` bodies are HTML and differ only for editors.",
});

export const EmailTemplate = Type.Object({
  id: Id,
  name: Described(Type.String(), "Name; not shown to recipients.", "June newsletter"),
  subject: Described(
    Type.String(),
    "Subject of the mail. Templates may contain variables.",
    "Six books for [[first_name]]",
  ),
  body: Described(Type.String(), "The mail in HTML, with variables.", "<p>Hello [[first_name]].</p>"),
  ...ContentView,
  design: Type.Optional(
    Described(Nullable(DesignTree), "Extension. The template's design; null: it has none. Not in lists."),
  ),
  markdown: Type.Optional(
    Described(
      Nullable(Type.String()),
      "Extension. The Markdown that the body is made from; null: none. Not in lists.",
      "# Hello [[first_name]]",
    ),
  ),
  template_mode: Mode,
  template_type: Described(
    OneOf("marketing", "transactional"),
    "Purpose: newsletters (`marketing`) or receipts and similar mails (`transactional`).",
  ),
  created_at: CreatedAt,
  updated_at: UpdatedAt,
});

const Warnings = Type.Array(Type.String(), {
  description:
    "Extension. Warnings about placeholders of other products and MJML, which are sent unchanged; links that open nothing, such as those without a scheme; several lines without tags; variables that are not built in and that no subscriber has, or that some lack, with their number; HTML over 102 KB; and a missing visible unsubscribe link.",
  examples: [['The address "www.example.com" does not open from an email. Use "https://www.example.com" instead.']],
});
const SavedTemplate = Type.Composite([EmailTemplate, Type.Object({ warnings: Warnings })]);

export const PreviewResult = Type.Object({
  subject: Described(Type.String(), "Rendered subject.", "Six books for Ann"),
  html: Described(Type.String(), "The HTML part.", "<p>Hello Ann.</p>"),
  text: Described(Type.String(), "Plain-text version.", "Hello Ann."),
  warnings: Warnings,
});
const Variables = Type.Optional(Type.Record(Type.String(), Type.Unknown()));

const Subject = Type.String({ minLength: 1, maxLength: MAX_SUBJECT_LENGTH, pattern: "\\S", format: "line" });

const DESIGN =
  "Extension. A tree of blocks, in place of `body`: body and text part are made from it, and `template_mode` is `visual`. A 400 names the path in the tree. A new `body` replaces a design, and so does null, which keeps the body.";

const MARKDOWN =
  "Extension. Markdown with variables, in place of `body`: the body is made from it in the company's fonts and colors, and `template_mode` is `basic`. It is also the text part, unless it contains HTML. `[[#if name]]` and its like may stand on lines of their own. A new `body` replaces it, and so does null, which keeps the body.";

const Content = {
  subject: Described(Subject, "Subject of the mail. Templates may contain variables.", "Six books for [[first_name]]"),
  body: Type.Optional(
    Described(Text(MAX_BODY_LENGTH), "The mail in HTML, with variables.", "<p>Hello [[first_name]].</p>"),
  ),
  ...ContentFields,
  design: Type.Optional(Described(Nullable(DesignTree), DESIGN)),
  markdown: Type.Optional(Described(Nullable(Text(MAX_BODY_LENGTH)), MARKDOWN, "# Hello [[first_name]]")),
  template_mode: Type.Optional(Mode),
  template_type: Type.Optional(
    Described(
      OneOf("marketing", "transactional"),
      "Purpose: newsletters (`marketing`) or receipts and similar mails (`transactional`).",
    ),
  ),
};
const Convertible = Type.Object({
  subject: Type.String(),
  preheader: Type.String(),
  body: Type.String({ maxLength: MAX_BODY_LENGTH }),
  text_body: Type.String({ maxLength: MAX_BODY_LENGTH }),
  template_mode: Mode,
});
const Input = Type.Object({ name: Described(Name, "Name.", "Readers"), ...Content });

const UNCHANGED_SINCE =
  "Extension. The template's `updated_at` as last read. If it was saved since, the answer is 409 and nothing changes.";

const LANGUAGE =
  "Subject and body may contain `[[name]]` (with dots for objects: `[[order.total]]`), `[[#if name]]…[[#else]]…[[/if]]`, `[[#each items]]…[[this]]…[[/each]]` " +
  "with `[[this.field]]` and `[[@index]]`, `[[[name]]]` for a value without HTML escaping, and `\\[[` for literal brackets. " +
  "`[[name|default:friend]]` sets a fallback, `[[name|urlencode]]` percent-encodes; both can be combined. " +
  "In the query and fragment of any URL (links, images, backgrounds, the text part) and everywhere in `mailto:`, values are percent-encoded, except unescaped values and a value that starts the URL. " +
  "The `href` of `<a>`, `<area>` and Outlook's VML shapes are tracked and tagged with `utm`. " +
  "Built-in variables: `email`, `first_name`, `last_name`, `unsubscribe_url`, `view_in_browser_url`, `preferences_url`, " +
  "`company.name`, `company.footer_text`. A syntax error is a 400 that names line and column, as are " +
  "more than 10,000 tags and HTML nested more than 500 levels deep.";

// Compared over MJML's 25 example templates with mjml 4: 11 are identical, apart from the notation of colours, decimals
// and white space.
const MJML_DIFFERENCES = [
  "| where | `mjml` 4 | here |",
  "|---|---|---|",
  "| a column in a section with padding at its sides, in Outlook | as wide as the section within its padding | as wide as without the padding |",
  "| `mj-image` with a `width` over its column's | narrowed to the column | in Outlook as wide as it says |",
  "| MJML's own fonts and icons of social networks | loaded from other companies' servers | a font is loaded if `mj-font` names it; networks without `src` are named in words |",
  "| columns in the new Outlook and other clients without media queries | below each other | beside each other |",
  "| widths that are not whole pixels | cut off | with decimals, in percent with six of them |",
  "| a web font that only HTML or `mj-style` names | loaded | loaded by `mj-font` and an attribute `font-family` that names it |",
  "| a second `mj-carousel`, or `mj-navbar` with `hamburger` | works | an error |",
  "| `mj-include`, `mj-html-attributes`, defaults of elements within `mj-class` | work | errors |",
  "| an unknown element, text outside of `mj-text` and its like | left out | an error |",
  "| an attribute that is given twice | the first holds | the last holds |",
].join("\n");

const MJML =
  "\n\nIn an `mjml` template tags may be used in texts and attributes as in HTML, and conditions and loops also between " +
  "components: `[[#if vip]]<mj-section>…</mj-section>[[/if]]`, but not within `mj-carousel` and `mj-head`. `mj-include` and " +
  "document types are errors: nothing is read or fetched. Errors name line and column of the MJML. It is compiled by mrml, whose " +
  "HTML differs from that of `mjml` as follows.\n\n" +
  MJML_DIFFERENCES;

const example = {
  name: "June newsletter",
  subject: "News for [[first_name]]",
  body: "<p>Hello [[first_name]],</p>[[#if items]]<ul>[[#each items]]<li>[[this]]</li>[[/each]]</ul>[[/if]]",
  template_mode: "basic",
  template_type: "marketing",
};

export const contract = {
  listTemplates: {
    summary: "List templates",
    description: "Searches name and subject. Sortable: created_at, name, updated_at.",
    params: Type.Object({
      ...ListQuery.properties,
      template_mode: Filter(Mode, "Only entries of this mode."),
      template_type: Filter(OneOf("marketing", "transactional"), "Only entries of this type."),
    }),
    returns: Page(EmailTemplate),
  },
  createTemplate: {
    summary: "Create a template",
    description: LANGUAGE + MJML,
    params: Input,
    returns: SavedTemplate,
    example,
  },
  getTemplate: { summary: "Get a template", params: ById, returns: EmailTemplate },
  updateTemplate: {
    summary: "Change a template",
    description: `You can send back everything that you read: an unchanged \`body\` beside \`design\` or \`markdown\` is ignored. ${LANGUAGE}`,
    params: Type.Object({
      ...ById.properties,
      ...Patch(Input).properties,
      unchanged_since: Type.Optional(Type.String({ ...Time, description: UNCHANGED_SINCE })),
    }),
    returns: SavedTemplate,
    example: { subject: "News for you, [[first_name]]" },
  },
  removeTemplate: { summary: "Delete a template", params: ById, returns: Nothing },
  checkTemplate: {
    summary: "Check a template",
    description: CHECK_DESCRIPTION,
    params: Type.Object({
      subject: Described(
        Subject,
        "Subject of the mail. Templates may contain variables.",
        "Six books for [[first_name]]",
      ),
      body: Type.Optional(
        Described(
          Text(MAX_BODY_LENGTH),
          "The mail in HTML, with variables. Required without `design` and `markdown`.",
          "<p>Hello [[first_name]].</p>",
        ),
      ),
      design: Type.Optional(Described(DesignTree, "Design to check, in place of `body`.")),
      markdown: Type.Optional(
        Described(Text(MAX_BODY_LENGTH), "Markdown to check, in place of `body`.", "# Hello [[first_name]]"),
      ),
      quick: Type.Optional(
        Described(Type.Boolean(), "True: without requesting links and without the spam check.", false),
      ),
    }),
    returns: TemplateCheck,
    exactlyOne: [["body", "design", "markdown"]],
    example: { subject: "News for [[first_name]]", body: '<p>See <a href="[[shop_url]]">our offers</a>.</p>' },
  },
  ...versions,
  restoreVersion: { ...RESTORE, returns: SavedTemplate },
  convertContent: {
    summary: "A content with placeholders of other products as ours, and links as they were meant",
    visibility: "public",
    params: Convertible,
    returns: Convertible,
  },
  preview: {
    summary: "Preview a template",
    description:
      "Renders the mail with the given variables and its footer; links are not tracked and built-in addresses do not work.",
    params: Type.Object({
      ...ById.properties,
      variables: Described(Variables, "Values of the template's variables.", { first_name: "Ann" }),
    }),
    returns: PreviewResult,
    example: { variables: { first_name: "Ann", items: ["Tea", "Coffee"] } },
  },
  previewContent: {
    summary: "Preview an unsaved template",
    description:
      "Extension. Renders like the preview of a template. Nothing is saved; syntax errors return 400, as on saving.",
    params: Type.Object({
      ...Content,
      variables: Described(Variables, "Values of the template's variables.", { first_name: "Ann" }),
    }),
    returns: PreviewResult,
    example: {
      subject: "News for [[first_name]]",
      body: "<p>Hello [[first_name]],</p>",
      variables: { first_name: "Ann" },
    },
  },
} as const satisfies ServiceContract;
