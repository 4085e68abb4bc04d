/**
 * What may stand in a mail header: nothing that Unicode calls a line break, and no control character, which some server
 * on the way may take for one. A tab is white space and stays.
 */
const BREAKS = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f\u2028\u2029]+/;
/** The same for documents: what a text must match as a whole. */
export const ONE_LINE_PATTERN = `^${BREAKS.source.replace("[", "[^").replace("]+", "]*")}$`;
const ALL_BREAKS = new RegExp(BREAKS, "g");

export const isOneLine = (text: string): boolean => !BREAKS.test(text);

export const toOneLine = (text: string): string => text.replace(ALL_BREAKS, " ");

export const ONE_LINE_ERROR = "Line breaks and control characters are not allowed.";
