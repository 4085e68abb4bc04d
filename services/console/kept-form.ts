/**
 * Keeps a form that was submitted after its session had ended, encrypted in the sign-in page. After the same person
 * signs in, the form's page is shown with the fields filled in; nothing is submitted. Passwords and secrets are not kept.
 */
import { seal, unseal } from "../lib/secrets.ts";
import type { Answer, KeptForm, Visit } from "./request.ts";

const KEPT_MS = 60 * 60_000;
const CONTEXT = "kept form";
/** Maximum length of a sealed form in the sign-in form. */
const MAX_LENGTH = 900_000;
const SECRET = /pass|secret|private|token|^code$/i;
/** Hidden fields, which nobody typed. */
const HIDDEN = /^(back|do|seen|overwrite)$/;

interface Sealed extends KeptForm {
  user: string;
  at: number;
}

/** Seals the form; undefined if it is empty or too large. */
export function keep({ path, form, session }: Visit): string | undefined {
  const fields = Object.fromEntries(Object.entries(form).filter(([name]) => !SECRET.test(name)));
  if (!session.person || Object.keys(fields).length === 0) return undefined;
  const kept: Sealed = { path, fields, user: session.person.userId, at: Date.now() };
  const sealed = seal(JSON.stringify(kept), CONTEXT).toString("base64url");
  return sealed.length > MAX_LENGTH ? undefined : sealed;
}

/** Opens a sealed form; undefined if it is invalid, too old or another person's. */
export function keptBy(userId: string, sealed: string | undefined): KeptForm | undefined {
  if (!sealed) return undefined;
  try {
    const { path, fields, user, at } = JSON.parse(unseal(Buffer.from(sealed, "base64url"), CONTEXT)) as Sealed;
    return user === userId && Date.now() - at < KEPT_MS ? { path, fields } : undefined;
  } catch {
    return undefined;
  }
}

/** Adds the typed text to a problem's page, for a form whose own page cannot be shown. */
export function withTyped(problem: Answer, { fields }: KeptForm): Answer {
  if (!("view" in problem)) return problem;
  const typed = Object.entries(fields).filter(([name, text]) => text !== "" && !HIDDEN.test(name));
  return { ...problem, view: "kept-form", values: { ...problem.values, typed } };
}
