/** The enhanced status code of an SMTP reply (RFC 2034, RFC 3463). */

const AT_BEGINNING = /^([245]\.\d{1,3}\.\d{1,3})(?:\s|$)/;
/** As qmail and its descendants write it: "sorry, no mailbox here by that name. (#5.1.1)". */
const AT_END = /\(#([245]\.\d{1,3}\.\d{1,3})\)\W*$/;

/** Of the words behind the reply's code, of its first line and of all of it. Undefined where the server gives none. */
export const enhancedCode = (words: string, all = words): string | undefined =>
  (AT_BEGINNING.exec(words) ?? AT_END.exec(all))?.[1];
