import { toOneLine } from "../../lib/one-line.ts";
import { bounceKindOf, type Meaning } from "../../lib/replies/meanings.ts";
import type { Verdict } from "../verdict.ts";
import type { IgnoredReason } from "./not-a-bounce.ts";

const MAX_DIAGNOSTIC = 1_000;

export const ignored = (reason: IgnoredReason, recipient: string | null = null): Verdict => ({
  kind: "ignored",
  reason,
  recipient,
  statusCode: null,
  diagnostic: null,
});

interface Grounds {
  statusCode: string | null;
  /** Text of the refusing server, or the closest to it. */
  words: string;
  /** Further addresses of the recipient. */
  others?: string[];
}

export function bounce(
  meaning: Meaning,
  recipient: string | null,
  { statusCode, words, others = [] }: Grounds,
): Verdict {
  const otherRecipients = [...new Set(others)].filter((address) => address !== recipient);
  return {
    kind: bounceKindOf(meaning),
    reason: meaning,
    recipient,
    ...(otherRecipients.length > 0 ? { otherRecipients } : {}),
    statusCode,
    diagnostic: oneLine(words),
  };
}

export function oneLine(text: string): string | null {
  const line = toOneLine(text.slice(0, MAX_DIAGNOSTIC * 2))
    .replace(/\s+/g, " ")
    .trim();
  return line === "" ? null : line.slice(0, MAX_DIAGNOSTIC);
}
