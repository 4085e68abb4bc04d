/** Fields of a content besides subject and body, the same in templates and custom sends. */
import { Line, Nullable, Text, Type } from "../shapes.ts";
import { MAX_BODY_LENGTH, MAX_SUBJECT_LENGTH } from "./compile.ts";

const PREHEADER =
  "Preview text shown after the subject in the inbox, hidden in the mail itself. Variables are allowed; their values are always treated as text. Not part of the text version.";
const TEXT_BODY =
  "Plain-text version, instead of the one derived from the HTML. Variables are allowed and not escaped; without an unsubscribe link the footer is added. Null or blank: derived.";
const INLINE_CSS =
  "Inlines CSS on save or send. An element's own style wins unless a rule is `!important`. Media queries, other at-rules and rules for states such as `:hover` stay in the style sheet, as do sheets with a `media` attribute, `data-embed`, conditions or loops. Where `class` or `id` contains a variable, the sheets are kept complete and the properties it may set are not inlined. Linked and imported sheets are not fetched and stay links.";

const PREHEADERS = ["Six books for [[first_name]]"];
const TEXTS = ["Hello [[first_name]],\n\nsix books are waiting."];

const preheader = Type.String({ ...Line(MAX_SUBJECT_LENGTH), description: PREHEADER, examples: PREHEADERS });
const textBody = Type.String({ ...Text(MAX_BODY_LENGTH), description: TEXT_BODY, examples: TEXTS });
const inlineCss = Type.Boolean({ description: INLINE_CSS, examples: [true] });

/** Fields in requests. */
export const ContentFields = {
  preheader: Type.Optional(Nullable(preheader)),
  text_body: Type.Optional(Nullable(textBody)),
  inline_css: Type.Optional(inlineCss),
};

/** Fields in responses. */
export const ContentView = {
  preheader: Nullable(Type.String({ description: PREHEADER, examples: PREHEADERS })),
  text_body: Nullable(Type.String({ description: TEXT_BODY, examples: TEXTS })),
  inline_css: inlineCss,
};
