/**
 * Inserts the preheader, which email clients show after the subject in the inbox, as hidden text at the very beginning
 * of the body. Zero-width and non-breaking spaces follow it, so that clients do not show text of the body after it.
 */
import { changed, insertion } from "../../lib/text-changes.ts";
import { PLACEHOLDER } from "./text-in-html.ts";
import { bodyStarts } from "./visible.ts";

const STYLE =
  "display:none;font-size:1px;line-height:1px;max-height:0;max-width:0;opacity:0;overflow:hidden;mso-hide:all";
/** Lists show some 150 characters at most. */
const FILLER = "&#847;&zwnj;&nbsp;".repeat(100);

const BLOCK = `<div style="${STYLE}">${PLACEHOLDER}${FILLER}</div>`;

/** Inserts PLACEHOLDER at the position of the preheader. */
export const withPreheader = (body: string): string =>
  changed(
    body,
    bodyStarts(body).map((at) => insertion(at, BLOCK)),
  );
