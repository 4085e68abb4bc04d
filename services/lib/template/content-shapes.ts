/** Fields of what is sent beside subject and body, the same in templates and in custom sends. */
import { Line, Nullable, Text, Type } from "../shapes.ts";
import { MAX_BODY_LENGTH, MAX_SUBJECT_LENGTH } from "./compile.ts";

const PREHEADER =
  "Text that mail programs show behind the subject in their lists, hidden in the mail itself. Takes variables; what they hold is text, never HTML. Not in the text part.";
const TEXT_BODY =
  "The text part, in place of the one that is derived from the HTML. Takes variables, nothing is escaped; without a link to unsubscribe it gets the footer. Null or blank: derived.";
const INLINE_CSS =
  "Writes the rules of the style sheets into the `style` of the elements they apply to, when it is saved or sent. An element's own style wins, unless a rule is `!important`. Media queries, other at-rules and rules for states such as `:hover` stay in the sheets, and so do sheets with a `media` attribute, `data-embed`, or conditions or loops within. Where a variable stands in a `class` or `id`, the sheets stay whole, and properties that it may set are left to them. Nothing is fetched: linked and imported sheets stay links.";

const PREHEADERS = ["Six books for [[first_name]]"];
const TEXTS = ["Hello [[first_name]],\n\nsix books are waiting."];

const preheader = Type.String({ ...Line(MAX_SUBJECT_LENGTH), description: PREHEADER, examples: PREHEADERS });
const textBody = Type.String({ ...Text(MAX_BODY_LENGTH), description: TEXT_BODY, examples: TEXTS });
const inlineCss = Type.Boolean({ description: INLINE_CSS, examples: [true] });

/** In requests. */
export const ContentFields = {
  preheader: Type.Optional(Nullable(preheader)),
  text_body: Type.Optional(Nullable(textBody)),
  inline_css: Type.Optional(inlineCss),
};

/** In answers. */
export const ContentView = {
  preheader: Nullable(Type.String({ description: PREHEADER, examples: PREHEADERS })),
  text_body: Nullable(Type.String({ description: TEXT_BODY, examples: TEXTS })),
  inline_css: inlineCss,
};
