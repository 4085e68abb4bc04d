/** A content with what its warnings offer: placeholders of other products as ours, and links as they were meant. */
import type { Static } from "../../lib/shapes.ts";
import { isMjml, withoutForeignTags } from "../../lib/template/foreign-tags.ts";
import type { contract } from "../contract-templates.ts";
import { withoutBrokenLinks } from "./broken-links.ts";

export type Convertible = Static<(typeof contract)["convertContent"]["params"]>;

export function convertContent({ subject, preheader, body, text_body, template_mode }: Convertible): Convertible {
  const isMjmlBody = template_mode === "mjml" || /^\s*(?:<\?xml[^>]*>\s*)?<mjml[\s>]/i.test(body);
  const converted = withoutForeignTags(body, isMjmlBody ? "text" : "body");
  return {
    subject: withoutForeignTags(subject, "subject"),
    preheader: withoutForeignTags(preheader, "subject"),
    body: isMjmlBody ? converted : withoutBrokenLinks(converted),
    text_body: withoutForeignTags(text_body, "text"),
    template_mode: isMjmlBody && isMjml(body) ? "mjml" : template_mode,
  };
}
