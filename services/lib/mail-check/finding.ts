/** Finding of a check of a mail's HTML. */

/** Email clients that are checked, in the order of support.json. */
export const MAIL_CLIENTS = ["gmail", "outlook_classic", "outlook", "apple_mail", "yahoo", "samsung"] as const;
export type MailClient = (typeof MAIL_CLIENTS)[number];

export const CLIENT_NAMES: Record<MailClient, string> = {
  gmail: "Gmail",
  outlook_classic: "Outlook (classic)",
  outlook: "Outlook (new)",
  apple_mail: "Apple Mail",
  yahoo: "Yahoo Mail",
  samsung: "Samsung Email",
};

export const FINDING_KINDS = ["accessibility", "support", "weight", "link", "spam"] as const;

/** Size at which Gmail clips a mail. */
export const CLIPPED_BYTES = 102 * 1_024;
/** More would hide the important ones. */
export const MAX_FINDINGS = 100;

export interface Finding {
  kind: (typeof FINDING_KINDS)[number];
  /** Rule that found it, or the name of an unsupported feature. */
  rule: string;
  /** An error keeps some readers from reading or using the mail; a warning makes it worse for them. */
  severity: "error" | "warning";
  /** The fault, and what readers notice. */
  message: string;
  /** How to fix it. */
  fix: string;
  /** Path of the block in the design; null without one. */
  path: string | null;
  /** Clients with the fault; empty for all. */
  clients: MailClient[];
}
