/**
 * Checks text for mail headers: no Unicode line breaks and no control characters, which some server may treat as one. A
 * tab is white space and allowed.
 */
const BREAKS = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028\u2029]+/;
/** The same as a pattern for the API document, matching the whole text. */
export const ONE_LINE_PATTERN = `^${BREAKS.source.replace("[", "[^").replace("]+", "]*")}$`;
const ALL_BREAKS = new RegExp(BREAKS, "g");

export const isOneLine = (text: string): boolean => !BREAKS.test(text);

export const toOneLine = (text: string): string => text.replace(ALL_BREAKS, " ");

export const ONE_LINE_ERROR = "Line breaks and control characters are not allowed.";
