import { type Fields, html } from "../../fields.ts";

/** The author's own HTML, as in a template's body. */
export const fields = { html: html() } as const satisfies Fields;
