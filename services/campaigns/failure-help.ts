/** Advice on failed recipients: the cause, and the remedy that works for this campaign. */
import { SENT_EMAIL_STATUS } from "../../models/sent-email-status.ts";
import type { ReturnsOf } from "../contracts.ts";

const { suppressed, unknown } = SENT_EMAIL_STATUS;

/** `later`: the campaign is still being sent. `none`: its recipients are no longer kept. */
export type Remedy = "resume" | "later" | "duplicate" | "none";

interface Advice {
  cause: string;
  /** Effect of resuming; absent if no remedy reaches these recipients. */
  resume?: string;
}

const ADVICE = {
  hard: { cause: "These mailboxes do not exist. They are suppressed and get no more email." },
  soft: {
    cause: "These mailboxes exist and could not accept the email: they are full, or it was too large for them.",
    resume: "Resume the campaign to try them again.",
  },
  block: {
    cause:
      "The mail server refuses the sender or the email, not the mailbox. Check the SMTP configuration's deliverability report (SPF, DKIM, DMARC) and your account with the provider first.",
    resume: "Then resume the campaign to try these again.",
  },
  later: {
    cause: "The mail server deferred the email at every attempt.",
    resume: "Resume the campaign to try these again.",
  },
  refused: { cause: "The mail server permanently rejected these emails." },
  unknown: {
    cause: "The mail server never confirmed these emails, so they may have arrived.",
    resume: "Resume the campaign to send them again; some people may then get it twice.",
  },
  suppressed: { cause: "These people get no email: they unsubscribed, complained, or are on the suppression list." },
  stopped: {
    cause: "The campaign was stopped before these were tried.",
    resume: "Resume the campaign to send to them.",
  },
  quota: {
    cause: "They exceeded the monthly email quota.",
    resume: "Resume the campaign next month or after upgrading the plan.",
  },
  other: { cause: "The email was not sent. Fix the problem named in the reason.", resume: "Then resume the campaign." },
} satisfies Record<string, Advice>;

type Cause = keyof typeof ADVICE;

const OTHERWISE: Record<Exclude<Remedy, "resume">, string> = {
  later: "You can resume the campaign once it has ended.",
  duplicate: "This campaign cannot be resumed because nothing was sent. Duplicate it and send the copy.",
  none: "Its recipients are no longer kept, so it cannot be resumed.",
};

interface Group {
  status: number;
  reason: string;
}

interface Known {
  code: number | null;
  bounce: ReturnsOf<"campaigns.failures">[number]["bounce_type"];
  isStopped: boolean;
}

export function causeOf({ status, reason }: Group, { code, bounce, isStopped }: Known): Cause {
  if (status === unknown) return "unknown";
  if (status === suppressed) return "suppressed";
  if (bounce) return bounce;
  if (isStopped) return "stopped";
  if (code === null) return reason.startsWith("Given up") ? "later" : "other";
  return code < 500 ? "later" : "refused";
}

export function helpOf(name: Cause, remedy: Remedy): string {
  const { cause, resume }: Advice = ADVICE[name];
  if (resume === undefined) return cause;
  return `${cause} ${remedy === "resume" ? resume : OTHERWISE[remedy]}`;
}
