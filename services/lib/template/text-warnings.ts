/** Warns about content that will not be sent as intended, judging by its texts alone. */
import { isTypedText } from "../made-html/typed-text.ts";
import { foreignTags, isMjml } from "./foreign-tags.ts";

/** Maximum named in a warning. */
const MAX_NAMED = 10;

export interface Texts {
  subject?: string | null | undefined;
  preheader?: string | null | undefined;
  /** Texts as sent. */
  body?: string | null | undefined;
  textBody?: string | null | undefined;
}

function foreignWarnings(text: string): string[] {
  const found = foreignTags(text);
  const warnings = found.slice(0, MAX_NAMED).map(({ text: tag, product, ours }) => {
    const help = ours === undefined ? "There is no equivalent." : ours === "" ? "Remove it." : `Use ${ours} instead.`;
    return `"${tag}" is a placeholder of ${product}, and is sent unchanged. ${help}`;
  });
  const more = found.length - MAX_NAMED;
  return more > 0 ? [...warnings, `${more} more placeholders of other products are sent unchanged.`] : warnings;
}

/** Placeholders of other products, MJML, and a body of several lines without any tag. */
export function textWarnings({ subject, preheader, body, textBody }: Texts): string[] {
  const html = body ?? "";
  const warnings = foreignWarnings([subject, preheader, html, textBody].filter(Boolean).join("\n"));
  if (isMjml(html)) {
    warnings.push(
      "The body is MJML, which email clients cannot show. Save it as a template with the template_mode `mjml`.",
    );
  }
  if (isTypedText(html) && html.trim().includes("\n")) {
    warnings.push(
      "The body has no HTML tags, so email clients show all its lines as one paragraph. Use <p> for paragraphs and <br> for line breaks.",
    );
  }
  return warnings;
}
