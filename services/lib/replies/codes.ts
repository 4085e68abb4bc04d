/**
 * Interprets reply codes (RFC 5321) and enhanced status codes (RFC 3463 section 3, with later registry entries: RFC
 * 5248, RFC 7504, RFC 7505, RFC 7372). A code counts only if the reply's text gives no meaning: many servers use one
 * code for everything.
 */
import type { Meaning } from "./meanings.ts";

/** Subject and detail, without the class. */
const BY_DETAIL: Record<string, Meaning> = {
  "1.1": "mailbox-unknown",
  "1.2": "domain-unknown",
  "1.3": "mailbox-unknown",
  "1.4": "mailbox-unknown",
  "1.6": "mailbox-moved",
  "1.7": "sender-refused",
  "1.8": "sender-refused",
  "1.10": "accepts-no-mail",
  "2.1": "mailbox-disabled",
  "2.2": "mailbox-full",
  "2.3": "too-large",
  "2.4": "mailbox-status",
  "3.1": "server-error",
  "3.2": "server-error",
  "3.3": "server-error",
  "3.4": "too-large",
  "3.5": "server-error",
  "4.1": "unreachable",
  "4.2": "unreachable",
  "4.3": "server-error",
  "4.4": "unreachable",
  "4.5": "server-error",
  "4.6": "loop",
  "4.7": "expired",
  "5.3": "rate-limited",
  "6.0": "content-refused",
  "6.1": "content-refused",
  "6.2": "content-refused",
  "6.3": "content-refused",
  "6.6": "content-refused",
  "6.7": "content-refused",
  "6.9": "content-refused",
  "7.1": "policy",
  "7.2": "list-refused",
  /** The disabled account is the sender's login, not the recipient's mailbox. */
  "7.13": "policy",
  "7.25": "authentication",
  "7.20": "authentication",
  "7.21": "authentication",
  "7.22": "authentication",
  "7.23": "authentication",
  "7.24": "authentication",
  "7.26": "authentication",
  "7.27": "sender-refused",
  "7.28": "rate-limited",
};
/** Meanings by subject alone. */
const BY_SUBJECT: Record<string, Meaning> = {
  "2": "mailbox-status",
  "3": "server-error",
  "4": "unreachable",
  "6": "content-refused",
  "7": "policy",
};

export interface StatusCode {
  /** `5.1.1` */
  code: string;
  /**
   * True for x.0.y and for x.n.0 except x.7.0: they give no reason. x.7.0 at least excludes the mailbox as the reason.
   */
  isVague: boolean;
}

const CODE = /(?<![\d.])([245])\.(\d{1,3})\.(\d{1,3})(?![\d.]*\d)/;

export function statusCodeIn(text: string): StatusCode | undefined {
  const found = CODE.exec(text);
  if (!found) return undefined;
  const [, kind, subject, detail] = found.map(Number);
  return { code: `${kind}.${subject}.${detail}`, isVague: subject === 0 || (detail === 0 && subject !== 7) };
}

export function meaningOf({ code }: StatusCode): Meaning | undefined {
  const [, subject, detail] = code.split(".") as [string, string, string];
  return BY_DETAIL[`${subject}.${detail}`] ?? BY_SUBJECT[subject];
}

/** The three digits of SMTP. `421 4.7.0`, `550-5.1.1`, `(550)`; not a part of a number, an address or a size. */
const REPLY = /(?<![\w.@:/=#$%+-])([45][0-5]\d)(?=[ \-,;:)\]]|$)(?! ?(?:bytes|kb|mb|seconds|hours|recipients|port)\b)/i;

export const replyCodeIn = (text: string): number | undefined => {
  const found = REPLY.exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
};

/** Meaning of a reply code alone (RFC 5321, 7504, 4954 and codes in use). */
export function meaningOfReply(code: number): Meaning | undefined {
  switch (code) {
    case 556:
      return "accepts-no-mail";
    case 551:
      return "mailbox-moved";
    case 452:
    case 552:
      return "mailbox-full";
    case 523:
      return "too-large";
    case 530:
    case 535:
      return "relay-refused";
    case 421:
    case 441:
    case 442:
      return "unreachable";
    default:
      return undefined;
  }
}

const AT_BEGINNING = /^([245]\.\d{1,3}\.\d{1,3})(?:\s|$)/;
/** Position in qmail's format: "sorry, no mailbox here by that name. (#5.1.1)". */
const AT_END = /\(#([245]\.\d{1,3}\.\d{1,3})\)\W*$/;

/**
 * The enhanced code of an SMTP reply (RFC 2034). `words`: the first line after the reply code, `all`: all lines.
 * Undefined if the server gives none.
 */
export const enhancedCode = (words: string, all = words): string | undefined =>
  (AT_BEGINNING.exec(words) ?? AT_END.exec(all))?.[1];
