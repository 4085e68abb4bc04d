/**
 * What a write did, in a sentence with its numbers, for the page that comes after it, and the form that takes it back. It
 * travels in the address, sealed: no link that somebody else made can have a page say something.
 */
import { seal, unseal } from "../lib/secrets.ts";
import { type Answer, type CompanyVisit, companyPath } from "./request.ts";

export interface Result {
  text: string;
  /** A form of this company, by its path below the company's, with its fields. */
  undo?: { path: string; fields: Record<string, string> };
}

/** A page that is opened again later says it no more. */
const SHOWN_MS = 10 * 60_000;

const contextOf = ({ company, user }: CompanyVisit) => `result ${company.id} ${user.id}`;

/** Goes to a page of the company, which says it. */
export function withResult(visit: CompanyVisit, path: string, result: Result): Answer {
  const sealed = seal(JSON.stringify({ ...result, at: Date.now() }), contextOf(visit)).toString("base64url");
  return { goTo: `${companyPath(visit, path)}${path.includes("?") ? "&" : "?"}result=${sealed}` };
}

/** Values for the view; undefined where there is none, or none of this person's. */
export function resultOf(visit: CompanyVisit) {
  const { result } = visit.query;
  if (!result) return undefined;
  try {
    const { text, undo, at } = JSON.parse(unseal(Buffer.from(result, "base64url"), contextOf(visit))) as Result & {
      at: number;
    };
    if (Date.now() - at > SHOWN_MS) return undefined;
    return { text, ...(undo ? { undo: { ...undo, action: companyPath(visit, undo.path) } } : {}) };
  } catch {
    return undefined;
  }
}
