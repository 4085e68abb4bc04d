/** Where the person is signed in: by the console or by the API, all the same. */
import { messages } from "../messages.ts";
import { type Answer, callAs, type PersonVisit } from "../request.ts";

export async function sessionsPage(visit: PersonVisit): Promise<Answer> {
  const sessions = await callAs(visit, "accounts.listSessions", {});
  return { view: "sessions", title: messages.sessions.title, values: { sessions } };
}

export async function endSessionForm(visit: PersonVisit): Promise<Answer> {
  await callAs(visit, "accounts.endSession", { id: visit.params.id! });
  return { goTo: "/app/account/sessions" };
}
