/** Sign-in and sign-out. Both replace the session cookie, so that nobody can prepare a session for somebody else. */
import { config } from "../../lib/config.ts";
import { isServiceError } from "../../lib/errors.ts";
import { type ConsoleSession, newVisitor } from "../../lib/tokens/console-session.ts";
import { keptBy } from "../kept-form.ts";
import { messages } from "../messages.ts";
import { type Answer, callAs, type Outcome, sessionFrom, type Visit } from "../request.ts";

const HOME = "/app/";

/** Returns a path of the console, never one that a browser could read as another site's URL. */
export function safeTarget(next: string | undefined): string {
  if (next === undefined || !/^\/app\/[\w./?=&%+-]*$/.test(next)) return HOME;
  const { pathname, search } = new URL(next, "http://console.invalid");
  return pathname.startsWith(HOME) ? pathname + search : HOME;
}

interface ShowOptions {
  email?: string;
  sentences?: string[];
  codeNeeded?: boolean;
  status?: number;
  /** True if the session ended while a form was open. */
  isEnded?: boolean;
}

/** Target of the form and its hidden fields. */
interface Way {
  action: string;
  unseen: Record<string, string>;
}

export function signInForm(
  { action, unseen }: Way,
  { email = "", sentences = [], codeNeeded = false, status = 200, isEnded = false }: ShowOptions,
): Answer {
  const isRegistrationOpen = config().REGISTRATION === "open";
  const values = {
    action,
    unseen,
    email,
    sentences,
    codeNeeded,
    isEnded,
    isRegistrationOpen,
    accepts: unseen.token !== undefined,
  };
  return { view: "sign-in", title: messages.signIn.title, values, status };
}

const toConsole = (next: string, kept?: string): Way => ({
  action: "/app/login",
  unseen: { next, ...(kept ? { kept } : {}) },
});

/** Answers a form whose session has ended. `kept` is the sealed form. */
export const signInAgain = (next: string, kept: string | undefined): Answer =>
  signInForm(toConsole(safeTarget(next), kept), { status: 401, isEnded: true });

export const signInPage = ({ query }: Visit): Answer => signInForm(toConsole(safeTarget(query.next)), {});

/** Creates a session if the password is right; otherwise shows the form again with the error. */
export async function signedInBy(visit: Visit, way: Way): Promise<{ session: ConsoleSession } | { refused: Answer }> {
  const { email = "", password = "", code } = visit.form;
  const refused = (shown: ShowOptions) => ({ refused: signInForm(way, { email, ...shown }) });
  try {
    const { access } = await callAs(visit, "accounts.login", { email, password, ...(code ? { code } : {}) });
    return { session: sessionFrom(access) };
  } catch (error) {
    if (isServiceError(error, "TOTP_REQUIRED")) return refused({ codeNeeded: true });
    if (isServiceError(error, "UNAUTHENTICATED")) {
      const sentence = code === undefined ? messages.signIn.wrong : messages.signIn.wrongCode;
      return refused({ sentences: [sentence], codeNeeded: code !== undefined, status: 401 });
    }
    if (isServiceError(error, "INVALID")) {
      return refused({ sentences: Object.values(error.data.fields).flat(), status: 400 });
    }
    if (isServiceError(error, "THROTTLED")) return refused({ sentences: [error.message], status: 429 });
    throw error;
  }
}

export async function signIn(visit: Visit): Promise<Outcome | Answer> {
  const { next, kept: sealed } = visit.form;
  const target = safeTarget(next);
  const signedIn = await signedInBy(visit, toConsole(target, sealed));
  if ("refused" in signedIn) return signedIn.refused;
  const { session } = signedIn;
  const kept = keptBy(session.person!.userId, sealed);
  return { answer: { goTo: target }, session, ...(kept ? { kept } : {}) };
}

/** Signs out, even if the session has already ended. */
export async function signOut(visit: Visit): Promise<Outcome> {
  const { person, id } = visit.session;
  if (person) {
    await callAs(visit, "accounts.endSession", { id }).catch((error: unknown) => {
      if (!isServiceError(error, "NOT_FOUND")) throw error;
    });
  }
  return { answer: { goTo: "/app/login" }, session: newVisitor() };
}
