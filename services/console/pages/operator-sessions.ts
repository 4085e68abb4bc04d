/** Sign-in and sign-out of operators: a link that works once, a session of an hour, and a list of both. */
import { isServiceError } from "../../lib/errors.ts";
import { newVisitor, operatorSessionOf } from "../../lib/tokens/console-session.ts";
import { messages } from "../messages.ts";
import { type Answer, callAs, callFor, type OperatorVisit, type Outcome, type Visit } from "../request.ts";
import { tableOf } from "./operator-tables.ts";

const SIGN_IN = "/app/operator/sign-in";
const SESSIONS = "/app/operator/sessions";

const form = (token: string, sentences: string[] = [], status = 200): Answer => ({
  view: "operator-sign-in",
  title: messages.operator.signIn.title,
  values: { token, sentences, action: SIGN_IN },
  status,
});

/** A GET does not use up the link: mail scanners and chat previews follow links. */
export const operatorSignIn = ({ query }: Visit): Answer => form(query.token ?? "");

const MAX_TOKEN = 100;

export async function openWithLink(visit: Visit): Promise<Outcome | Answer> {
  const token = (visit.form.token ?? "").slice(0, MAX_TOKEN);
  try {
    const { id } = await callAs(visit, "operator.beginSession", { token });
    return { answer: { goTo: "/app/operator" }, session: operatorSessionOf(id) };
  } catch (error) {
    if (isServiceError(error, "UNAUTHENTICATED")) return form("", [error.message], 401);
    throw error;
  }
}

export async function operatorSessionsPage(visit: OperatorVisit): Promise<Answer> {
  const sessions = await callFor(visit, "operator.consoleSessions", {});
  const rows = sessions.map((session) => ({
    ...session,
    isCurrent: session.session_id === visit.operator.id,
    mayEnd: session.state === "open" || session.state === "link not used yet",
  }));
  return {
    view: "operator-sessions",
    title: messages.operator.pages.sessions,
    values: { sessions: tableOf("sessions", rows), here: SESSIONS },
  };
}

export async function endOperatorSession(visit: OperatorVisit): Promise<Answer> {
  await callFor(visit, "operator.endSession", { session_id: visit.params.id! });
  return { goTo: SESSIONS, notice: "sessionEnded" };
}

export async function signOutOperator(visit: OperatorVisit): Promise<Outcome> {
  await callFor(visit, "operator.endSession", { session_id: visit.operator.id });
  return { answer: { goTo: SIGN_IN }, session: newVisitor() };
}
