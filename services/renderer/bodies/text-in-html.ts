/** Inserts a text template, such as a subject, into an HTML one: neither it nor a value can become markup there. */
import { escapeHtml } from "../../lib/escape-html.ts";
import type { Token } from "../../lib/template/lexer.ts";
import type { MarkToken } from "../../lib/template/parser.ts";

/** Placeholder for the text in the HTML: a private-use character. */
export const PLACEHOLDER = "\ue0f4";

export const withoutPlaceholders = (body: string): string => body.replaceAll(PLACEHOLDER, "");

const asHtml = (token: Token): Token => {
  if (token.type === "text") return { ...token, text: escapeHtml(token.text) };
  return token.type === "value" ? { ...token, raw: false } : token;
};

/** Tokens of the HTML, with those of the text at each placeholder. */
export function textInHtml(body: readonly (Token | MarkToken)[], text: readonly Token[]): (Token | MarkToken)[] {
  const escaped = text.map(asHtml);
  return body.flatMap((token) => {
    if (token.type !== "text" || !token.text.includes(PLACEHOLDER)) return [token];
    return token.text.split(PLACEHOLDER).flatMap((part, i): Token[] => {
      const tokens: Token[] = part === "" ? [] : [{ ...token, text: part }];
      return i === 0 ? tokens : [...escaped, ...tokens];
    });
  });
}
