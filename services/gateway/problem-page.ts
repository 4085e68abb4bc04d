/** A problem as a person sees it who opened a link of a mail. */
import type { Exchange } from "./exchange.ts";

const TITLES: Record<number, string> = {
  400: "This request cannot be understood",
  404: "This page does not exist",
  410: "This link has expired",
  429: "Too many requests",
  503: "Not available at the moment",
};

/** Only pages are read by people: an API path answers JSON whatever a browser would like. */
export const prefersHtml = (exchange: Exchange): boolean =>
  exchange.path.startsWith("/api/emails/public/") && exchange.accepts("json", "html") === "html";

const escaped = (text: string) => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);

export function problemPage(status: number, body: Record<string, unknown>): string {
  const title = TITLES[status] ?? "Something went wrong";
  const detail = typeof body.detail === "string" ? body.detail : "";
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
<p>${escaped(detail)}</p>
</main>
</body>
</html>
`;
}
