/** Signing in and out. The session's cookie changes with both, so that nobody can prepare one for somebody else. */
import { isServiceError } from "../../lib/errors.ts";
import { verifyBearer } from "../../lib/tokens/bearer.ts";
import { newVisitor, sessionOf } from "../../lib/tokens/console-session.ts";
import { messages } from "../messages.ts";
import { type Answer, callAs, type Outcome, type Visit } from "../request.ts";

const HOME = "/app/";

/** A path of the console, and nothing that a browser could take for another site's address. */
export function safeTarget(next: string | undefined): string {
  if (next === undefined || !/^\/app\/[\w./?=&%+-]*$/.test(next)) return HOME;
  const { pathname, search } = new URL(next, "http://console.invalid");
  return pathname.startsWith(HOME) ? pathname + search : HOME;
}

interface Shown {
  email?: string;
  sentences?: string[];
  codeNeeded?: boolean;
  status?: number;
}

function form(next: string, { email = "", sentences = [], codeNeeded = false, status = 200 }: Shown): Answer {
  return { view: "sign-in", title: messages.signIn.title, values: { next, email, sentences, codeNeeded }, status };
}

export const signInPage = ({ query }: Visit): Answer => form(safeTarget(query.next), {});

export async function signIn(visit: Visit): Promise<Outcome | Answer> {
  const { email = "", password = "", code, next } = visit.form;
  const target = safeTarget(next);
  try {
    const { access } = await callAs(visit, "accounts.login", { email, password, ...(code ? { code } : {}) });
    const { sessionId, ...person } = verifyBearer(access)!;
    return { answer: { goTo: target }, session: sessionOf({ ...person, sessionId: sessionId! }) };
  } catch (error) {
    if (isServiceError(error, "TOTP_REQUIRED")) return form(target, { email, codeNeeded: true });
    if (isServiceError(error, "UNAUTHENTICATED"))
      return form(target, { email, sentences: [error.message], status: 401 });
    if (isServiceError(error, "INVALID")) {
      return form(target, { email, sentences: Object.values(error.data.fields).flat(), status: 400 });
    }
    if (isServiceError(error, "THROTTLED")) return form(target, { email, sentences: [error.message], status: 429 });
    throw error;
  }
}

/** Also of a session that has ended already: whoever signs out is signed out. */
export async function signOut(visit: Visit): Promise<Outcome> {
  const { person, id } = visit.session;
  if (person) {
    await callAs(visit, "accounts.endSession", { id }).catch((error: unknown) => {
      if (!isServiceError(error, "NOT_FOUND")) throw error;
    });
  }
  return { answer: { goTo: "/app/login" }, session: newVisitor() };
}
