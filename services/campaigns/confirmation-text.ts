/**
 * The double opt-in mail in the template language, in the reader's words. Its variables: company_name, confirm_url,
 * greeting_name.
 */
import type { Catalogue } from "../lib/i18n/en.ts";

const VARIABLES: Record<string, string> = {
  company: "[[company_name]]",
  email: "[[email]]",
  name: "[[#if greeting_name]] [[greeting_name]][[/if]]",
};

const NAME = /^[\p{L}\p{M}\u200c\u200d]+(?:(?:[ '’‘·・-]|\. )[\p{L}\p{M}\u200c\u200d]+){0,3}\.?$/u;
const MAX_NAME = 40;

/**
 * The name to greet with, or "". Anybody can submit the public form with any text as a name: a mail that quoted it would
 * carry their advertisement, and mail programs turn whatever looks like an address into a link.
 */
export const greetingName = (name: string): string => {
  const text = name.trim();
  return text.length <= MAX_NAME && NAME.test(text) ? text : "";
};

const fill = (text: string) => text.replace(/\{(\w+)\}/g, (_, name: string) => VARIABLES[name]!);

export function confirmationText({ code, dir, confirm, confirmationMail: texts }: Catalogue) {
  const [hello, asked] = [fill(texts.hello), fill(texts.asked)];
  const body = `<!doctype html>
<html lang="${code}" dir="${dir}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${confirm.title}</title></head>
<body style="margin:0;padding:32px 16px;font-family:system-ui,-apple-system,'Segoe UI',sans-serif;font-size:16px;line-height:1.5;color:#1a1a1a;background:#ffffff">
<div style="max-width:480px;margin:0 auto">
<p>${hello}</p>
<p>${asked}</p>
<p style="margin:32px 0"><a href="[[confirm_url]]" style="display:inline-block;padding:12px 24px;border-radius:6px;color:#ffffff;background:#1d4ed8;text-decoration:none">${texts.button}</a></p>
<p>${texts.address}<br><a href="[[confirm_url]]" dir="ltr" style="color:#1d4ed8;word-break:break-all">[[confirm_url]]</a></p>
<p style="color:#595959">${texts.ignore}</p>
</div>
</body>
</html>
`;
  return { subject: fill(texts.subject), body };
}
