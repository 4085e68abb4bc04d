/**
 * Template of the double opt-in email in the recipient's language and the company's colours. Variables: company_name,
 * confirm_url, greeting_name; logo_url and footer_lines if the company has them.
 */
import { logoSource, type StoredBranding } from "../lib/branding/branding.ts";
import { type Palette, paletteOf } from "../lib/branding/palette.ts";
import type { Catalogue } from "../lib/i18n/en.ts";

const VARIABLES: Record<string, string> = {
  company: "[[company_name]]",
  email: "[[email]]",
  name: "[[#if greeting_name]] [[greeting_name]][[/if]]",
};

const NAME = /^[\p{L}\p{M}\u200c\u200d]+(?:(?:[ '’‘·・-]|\. )[\p{L}\p{M}\u200c\u200d]+){0,3}\.?$/u;
const MAX_NAME = 40;

/**
 * Returns the name to greet with, or "". Anyone can enter any text as a name in the public form: quoting it would send
 * their advertisement, and email clients turn anything like a URL into a link.
 */
export const greetingName = (name: string): string => {
  const text = name.trim();
  return text.length <= MAX_NAME && NAME.test(text) ? text : "";
};

const fill = (text: string) => text.replace(/\{(\w+)\}/g, (_, name: string) => VARIABLES[name]!);

/** Uses the light colours, because email clients do not support style sheets that follow dark mode. */
type Colours = Pick<Palette, "paper" | "ink" | "soft" | "accent" | "on-accent">;
const PLAIN: Colours = {
  paper: "#ffffff",
  ink: "#1c2330",
  soft: "#525c6b",
  accent: "#0b6b72",
  "on-accent": "#ffffff",
};

const coloursOf = (branding: StoredBranding): Colours =>
  branding.color === undefined && branding.background === undefined ? PLAIN : paletteOf(branding).light;

// Passed as values, never as template text, so that the company's words cannot contain markup.
const LOGO = `[[#if logo_url]]<p><img src="[[logo_url]]" alt="[[company_name]]" style="max-width:100%;max-height:64px"></p>
[[/if]]`;
const footer = (soft: string) =>
  `[[#if footer_lines]]<p style="color:${soft};font-size:14px">[[#each footer_lines]][[this]]<br>[[/each]]</p>
[[/if]]`;

/** Empty if the company has no branding. */
export function brandVariables({ logo_url, footer_text = "" }: StoredBranding): Record<string, string | string[]> {
  const lines = footer_text.split(/\r\n?|\n/).filter((line) => line.trim() !== "");
  return {
    ...(logo_url !== undefined && logoSource(logo_url) ? { logo_url } : {}),
    ...(lines.length > 0 ? { footer_lines: lines } : {}),
  };
}

export function confirmationText(
  { code, dir, confirm, confirmationMail: texts }: Catalogue,
  branding: StoredBranding = {},
) {
  const colours = coloursOf(branding);
  const [hello, asked] = [fill(texts.hello), fill(texts.asked)];
  const body = `<!doctype html>
<html lang="${code}" dir="${dir}">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${confirm.title}</title></head>
<body style="margin:0;padding:32px 16px;font-family:Inter,system-ui,-apple-system,'Segoe UI',sans-serif;font-size:16px;line-height:1.5;color:${colours.ink};background:${colours.paper}">
<div style="max-width:480px;margin:0 auto">
${LOGO}<p>${hello}</p>
<p>${asked}</p>
<p style="margin:24px 0 32px"><a href="[[confirm_url]]" style="display:inline-block;padding:12px 24px;border-radius:6px;color:${colours["on-accent"]};background:${colours.accent};font-weight:600;text-decoration:none">${texts.button}</a></p>
<p style="color:${colours.soft};font-size:14px">${texts.address}<br><a href="[[confirm_url]]" dir="ltr" style="color:${colours.accent};word-break:break-all">[[confirm_url]]</a></p>
<p style="color:${colours.soft};font-size:14px">${texts.ignore}</p>
${footer(colours.soft)}</div>
</body>
</html>
`;
  return { subject: fill(texts.subject), body };
}
