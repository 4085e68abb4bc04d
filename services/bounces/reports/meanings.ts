/** Why a mail came back, in stable words, and what each does to the recipient. */
import type { VerdictKind } from "../verdict.ts";

export const MEANINGS = {
  "mailbox-unknown": "hard",
  "mailbox-unavailable": "hard",
  "domain-unknown": "hard",
  "mailbox-moved": "hard",
  "accepts-no-mail": "hard",

  "mailbox-full": "soft",
  "mailbox-disabled": "soft",
  "mailbox-status": "soft",
  /** Unknown there, said only after the content was sent: filters of big carriers use the same words. */
  filtered: "soft",
  "too-large": "soft",
  expired: "soft",
  unreachable: "soft",
  loop: "soft",
  "server-error": "soft",
  "temporary-failure": "soft",

  blocked: "block",
  spam: "block",
  virus: "block",
  "content-refused": "block",
  authentication: "block",
  "sender-refused": "block",
  "relay-refused": "block",
  "rate-limited": "block",
  "list-refused": "block",
  policy: "block",
  /** Failed for ever, and nothing says why: the mailbox may well exist. */
  "unknown-reason": "block",
} as const satisfies Record<string, VerdictKind>;

export type Meaning = keyof typeof MEANINGS;
