/** The footer of a body that has no way to unsubscribe: law and mailbox providers ask for one in marketing mail. */
import { html } from "./escape.ts";
import { bodyEnd } from "./links.ts";
import type { Node } from "./parser.ts";

/** True when the body writes this variable anywhere, also within a condition or an address. */
export function mentions(nodes: readonly Node[], name: string): boolean {
  return nodes.some((node) => {
    if (node.kind === "value") return node.path.from === "variables" && node.path.name === name;
    if (node.kind === "if") return mentions(node.body, name) || mentions(node.otherwise, name);
    return (node.kind === "each" || node.kind === "link") && mentions(node.body, name);
  });
}

const literally = (text: string) =>
  html(text)
    .replaceAll("[[", "\\[[")
    .replace(/\r\n?|\n/g, "<br>");

interface Company {
  companyName: string;
  footerText: string;
}

export function withFooter(body: string, { companyName, footerText }: Company): string {
  const lines = [companyName, footerText].filter((text) => text.trim() !== "").map(literally);
  const style = "margin:32px 0 0;padding:16px;font:12px/1.5 sans-serif;color:#595959;text-align:center";
  const links =
    '<a href="[[unsubscribe_url]]" style="color:#595959">Unsubscribe</a> | <a href="[[preferences_url]]" style="color:#595959">Preferences</a>';
  const footer = `<div style="${style}">${[...lines, links].join("<br>")}</div>\n`;
  const at = bodyEnd(body);
  return `${body.slice(0, at)}${footer}${body.slice(at)}`;
}
