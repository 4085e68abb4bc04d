/** Layout of the gateway's own few pages. Pages for recipients are made by services/tracking/pages. */
import { escapeHtml } from "../../lib/escape-html.ts";

/** `main` and `style` are trusted HTML and CSS; `title` is text and gets escaped. */
export function htmlPage(title: string, main: string, style?: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
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
