/** Recognises automatic messages that are not bounces. They must never count against a recipient. */
import { type Headers, headerText } from "./headers.ts";
import * as answers from "./texts/answers.ts";

export type IgnoredReason =
  | "delayed"
  | "delivered"
  | "automatic-reply"
  | "vacation"
  | "challenge"
  | "address-changed"
  | "read-receipt"
  | "authentication-report"
  | "not-spam"
  | "no-report";

/** Characters of a reply that are examined. */
const MAX_WORDS = 4_000;

/** True if the report only announces a delay, which is not final. */
export const isDelayNotice = (subject: string, notice: string): boolean =>
  answers.DELAY_SUBJECT.test(subject) ||
  answers.STILL_RETRYING.test(notice) ||
  (answers.DELAYED.test(notice) && !answers.GIVEN_UP_WORDS.test(notice));

/** OpenSMTPD reports expired messages as delayed, with the text "Envelope expired" for the recipient. */
export const isGivenUp = (words: string): boolean => answers.GIVEN_UP.test(firstParagraph(words));

/** Returns the first paragraph; later ones may describe other, delayed messages. */
export const firstParagraph = (words: string): string => words.split(/\n[ \t]*\n/, 1)[0]!;

const withoutPrefix = (subject: string): string => subject.replace(/^(?:(?:re|aw|sv|antw|fwd?|tr|r) ?: ?)+/i, "");

/** True if the subject is that of a vacation note or automatic reply. */
export const isAbsenceNote = (subject: string): boolean =>
  answers.ABSENCE.test(subject) || (answers.AUTOMATIC_SUBJECT.test(subject) && !/fail|undeliver|return/i.test(subject));

export const isChallenger = (headers: Headers): boolean => answers.CHALLENGERS.test(headers.get("from")?.[0] ?? "");

/** Returns the kind of automatic message by headers, subject and beginning of the text; undefined if it is none. */
export function automaticReason(headers: Headers, notice: string): IgnoredReason | undefined {
  const subject = withoutPrefix(headerText(headers, "subject"));
  const words = notice.slice(0, MAX_WORDS);
  const isMarked = Object.entries(answers.AUTOMATIC_HEADERS).some(([name, pattern]) =>
    headers.get(name)?.some((value) => pattern.test(value)),
  );
  if (answers.CHALLENGE.test(subject) || answers.CHALLENGE.test(words)) return "challenge";
  if (answers.ABSENCE.test(subject)) return "vacation";
  if (answers.NEW_ADDRESS.test(subject)) return "address-changed";
  if (!isMarked && !answers.AUTOMATIC_SUBJECT.test(subject)) return undefined;
  if (answers.NEW_ADDRESS.test(words)) return "address-changed";
  return answers.ABSENCE.test(words) ? "vacation" : "automatic-reply";
}
