/**
 * Message for the page after a write: a sentence with numbers, and a form to undo the write. It is sealed in the URL,
 * so that a link made by somebody else cannot put text on a page.
 */
import { seal, unseal } from "../lib/secrets.ts";
import { type Answer, type CompanyVisit, companyPath } from "./request.ts";

export interface Result {
  text: string;
  /** The write succeeded, but what was tried after it did not. */
  hasFailed?: boolean;
  /** Path of a form below the company's path, with its fields. */
  undo?: { path: string; fields: Record<string, string> };
}

/** Later visits of the same URL do not show the message. */
const SHOWN_MS = 10 * 60_000;

const contextOf = ({ company, user }: CompanyVisit) => `result ${company.id} ${user.id}`;

/** Redirects to a page of the company that shows the result. */
export function withResult(visit: CompanyVisit, path: string, result: Result): Answer {
  const sealed = seal(JSON.stringify({ ...result, at: Date.now() }), contextOf(visit)).toString("base64url");
  return { goTo: `${companyPath(visit, path)}${path.includes("?") ? "&" : "?"}result=${sealed}` };
}

/** Returns the result for the view; undefined if there is none or it belongs to another person. */
export function resultOf(visit: CompanyVisit) {
  const { result } = visit.query;
  if (!result) return undefined;
  try {
    const {
      text,
      hasFailed = false,
      undo,
      at,
    } = JSON.parse(unseal(Buffer.from(result, "base64url"), contextOf(visit))) as Result & {
      at: number;
    };
    if (Date.now() - at > SHOWN_MS) return undefined;
    return { text, hasFailed, ...(undo ? { undo: { ...undo, action: companyPath(visit, undo.path) } } : {}) };
  } catch {
    return undefined;
  }
}
