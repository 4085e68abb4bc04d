/** Layout of the gateway's own few pages. Pages for recipients are made by services/tracking/pages. */
import { escapeHtml } from "../../lib/escape-html.ts";
import { type Catalogue, en } from "../../lib/i18n/en.ts";

interface Look {
  /** Trusted CSS. */
  style?: string;
  language?: Pick<Catalogue, "code" | "dir">;
}

/** `main` is trusted HTML; `title` is text and gets escaped. */
export function htmlPage(title: string, main: string, { style, language = en }: Look = {}): string {
  return `<!doctype html>
<html lang="${language.code}" dir="${language.dir}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)}</title>
${style === undefined ? "" : `<style>${style}</style>\n`}</head>
<body>
<main>
${main}
</main>
</body>
</html>
`;
}
