/** Runs in a worker thread: only this thread loads the MJML compiler and the CSS parser. */
import { compileTemplate, MAX_BODY_LENGTH } from "../template/compile.ts";
import { withInlinedCss } from "./inline-css.ts";
import type { Recipe } from "./make-html.ts";
import { htmlOfMarkdown, MARKDOWN_PLACE } from "./markdown.ts";
import { htmlOfMjml, type MadeHtml } from "./mjml.ts";

/** The result must be a valid template, like its source. */
function checked(html: string): MadeHtml {
  if (html.length > MAX_BODY_LENGTH)
    return { errors: [`The resulting HTML is longer than ${MAX_BODY_LENGTH} characters.`] };
  const { errors } = compileTemplate(html, "body");
  return errors ? { errors: errors.map((error) => `In the resulting HTML: ${error}`) } : { html };
}

/** Positions in the frame would mean nothing to the author. */
const withoutPositions = (made: MadeHtml): MadeHtml =>
  made.errors ? { errors: made.errors.map((error) => error.replace(/ at line \d+, column \d+(?=\.$)/, "")) } : made;

export function makeHtml({ markdown, ...recipe }: Recipe): MadeHtml {
  if (markdown === undefined) return htmlFrom(recipe);
  const html = htmlOfMarkdown(markdown);
  return withoutPositions(htmlFrom({ ...recipe, body: recipe.body.replace(MARKDOWN_PLACE, () => html) }));
}

function htmlFrom({ body, isMjml, inlinesCss }: Recipe): MadeHtml {
  const { errors } = compileTemplate(body, isMjml ? "text" : "body");
  if (errors) return { errors };
  const made: MadeHtml = isMjml ? htmlOfMjml(body) : { html: body };
  if (made.errors) return made;
  return checked(inlinesCss ? withInlinedCss(made.html) : made.html);
}
