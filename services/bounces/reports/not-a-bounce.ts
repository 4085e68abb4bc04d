/** Distinguishes what is no bounce from what is. None of it may ever count against a recipient. */
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

/** How much of an answer is looked at: what it is for stands at its beginning. */
const MAX_WORDS = 4_000;

/** "Your mail waits", which is no outcome yet. */
export const speaksOfDelay = (subject: string, notice: string): boolean =>
  answers.DELAY_SUBJECT.test(subject) ||
  answers.GOES_ON.test(notice) ||
  (answers.DELAYED.test(notice) && !answers.OVER.test(notice));

/** OpenSMTPD reports a mail that it has given up as delayed, with the words "Envelope expired" for the recipient. */
export const isGivenUp = (words: string): boolean => answers.GIVEN_UP.test(firstParagraph(words));

/** Later paragraphs speak of mails that wait. */
export const firstParagraph = (words: string): string => words.split(/\n[ \t]*\n/, 1)[0]!;

const withoutPrefix = (subject: string): string => subject.replace(/^(?:(?:re|aw|sv|antw|fwd?|tr|r) ?: ?)+/i, "");

/** The subject is one of a vacation note or an automatic reply. */
export const speaksOfAbsence = (subject: string): boolean =>
  answers.ABSENCE.test(subject) || (answers.AUTOMATIC_SUBJECT.test(subject) && !/fail|undeliver|return/i.test(subject));

export const isChallenger = (headers: Headers): boolean => answers.CHALLENGERS.test(headers.get("from")?.[0] ?? "");

/** What kind of automatic mail it is, by its headers, subject and first words; undefined where it is none. */
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
