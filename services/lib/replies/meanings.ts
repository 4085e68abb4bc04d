/**
 * Lists the reasons of refusals and bounces in stable words, with the kind of each: one table for live SMTP replies,
 * delivery reports and providers' events. The effects of each kind are defined in smtp-sender/delivery/outcome.ts and
 * bounces/plan-effect.ts.
 *
 *   hard    the mailbox does not exist
 *   soft    the mailbox exists and did not take this email
 *   block   the server refuses us, this email or this sender; never suppresses
 *   other   the way to the mailbox failed: says nothing about it
 */
export type RefusalKind = "hard" | "soft" | "block" | "other";

export const MEANINGS = {
  "mailbox-unknown": "hard",
  "mailbox-unavailable": "hard",
  "mailbox-disabled": "hard",
  "mailbox-moved": "hard",
  "domain-unknown": "hard",
  "accepts-no-mail": "hard",
  /** A provider did not try, because the address is on its own list of bounces or complaints. */
  "on-providers-list": "hard",

  "mailbox-full": "soft",
  "mailbox-suspended": "soft",
  "mailbox-status": "soft",
  /** Unknown there, said only after the content was sent: filters of big carriers use the same words. */
  filtered: "soft",
  "too-large": "soft",

  blocked: "block",
  spam: "block",
  virus: "block",
  "content-refused": "block",
  authentication: "block",
  "sender-refused": "block",
  "relay-refused": "block",
  "rate-limited": "block",
  greylisted: "block",
  "list-refused": "block",
  policy: "block",
  /** Failed permanently without a reason: the mailbox may well exist. */
  "unknown-reason": "block",

  expired: "other",
  unreachable: "other",
  loop: "other",
  "server-error": "other",
  "temporary-failure": "other",
} as const satisfies Record<string, RefusalKind>;

export type Meaning = keyof typeof MEANINGS;

export type BounceKind = Exclude<RefusalKind, "other">;

/** Kind of a bounced mail: it did not arrive, so `other` counts as soft. */
export function bounceKindOf(meaning: Meaning): BounceKind {
  const kind = MEANINGS[meaning];
  return kind === "other" ? "soft" : kind;
}

/** True if the meaning concerns the mailbox itself, so that other recipients need not meet the same refusal. */
export const concernsMailbox = (meaning: Meaning | undefined): boolean => meaning?.startsWith("mailbox-") ?? false;
