/** Findings on what other servers answered: links, and the spam filter. */
import type { Finding } from "../../lib/mail-check/finding.ts";
import type { SpamScore } from "./spam-score.ts";

interface Link {
  url: string;
  status: number | null;
  kind: "link" | "image";
  ok: boolean;
  path?: string;
}

/** Path of the block that has this setting. */
const blockOf = (path: string | undefined): string | null => /^.*\bblocks\[\d+\]/.exec(path ?? "")?.[0] ?? null;

export const linkFindings = (links: readonly Link[]): Finding[] =>
  links
    .filter(({ ok }) => !ok)
    .map(({ url, status, kind, path }) => ({
      kind: "link",
      rule: kind,
      severity: "error",
      message: `${url} ${status === null ? "does not answer" : `answers with status ${status}`}.`,
      fix:
        kind === "link"
          ? "Open the link in a browser, and correct it."
          : "Upload the image again, or choose another one.",
      path: blockOf(path),
      clients: [],
    }));

/** Score from which typical filters treat a mail as spam. */
const MANY_POINTS = 6;
const MAX_RULES = 3;

export function spamFindings(spam: SpamScore | null): Finding[] {
  if (!spam || spam.score < MANY_POINTS) return [];
  const worst = Object.values(spam.symbols)
    .filter(({ score, description }) => score > 0 && description !== "")
    .toSorted((a, b) => b.score - a.score)
    .slice(0, MAX_RULES)
    .map(({ description }) => description);
  return [
    {
      kind: "spam",
      rule: "score",
      severity: "error",
      message: `The spam filter gives ${spam.score.toFixed(1)} points; from ${MANY_POINTS} on many filters treat a mail as spam.`,
      fix:
        worst.length > 0
          ? `Fix the worst first: ${worst.join("; ")}.`
          : "Write more plainly, and check the sender's DNS records.",
      path: null,
      clients: [],
    },
  ];
}
