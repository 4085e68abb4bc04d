/** Accepts an invitation with a new account, as the signed-in person, or after signing in. */
import { isServiceError } from "../../lib/errors.ts";
import type { Errors } from "../form-errors.ts";
import { type Field, formPage, nameFields, newPasswordField } from "../form-fields.ts";
import { messages } from "../messages.ts";
import { type Answer, callAs, identify, type Outcome, type PersonVisit, sessionFrom, type Visit } from "../request.ts";
import { signedInBy, signInForm } from "./sign-in.ts";

const SIGN_IN = "/app/login/invitation";

const tokenOf = ({ form, query }: Visit): string => form.token ?? query.token ?? "";
const wayOf = (visit: Visit) => ({ action: SIGN_IN, unseen: { token: tokenOf(visit) } });

const newAccountFields = ({ form }: Visit): Field[] => [
  ...nameFields(form),
  newPasswordField("password", messages.invitation.password, messages.invitation.passwordHint),
];

function show(visit: Visit, person: PersonVisit | undefined, errors?: Errors): Answer {
  const t = messages.invitation;
  return formPage({
    title: t.title,
    intro: person ? `${t.signedIn(person.user.email)} ${t.notMe}` : t.intro,
    action: "/app/invitation",
    unseen: { token: tokenOf(visit) },
    ...(errors ? { errors, status: 400 } : {}),
    button: t.button,
    ...(person ? {} : { fields: newAccountFields(visit), second: { label: t.haveAccount, action: SIGN_IN } }),
  });
}

/** Explains a refused link; undefined for unexpected errors. */
function refusal(visit: Visit, person: PersonVisit | undefined, error: unknown): Answer | undefined {
  const t = messages.invitation;
  if (isServiceError(error, "INVALID")) return show(visit, person, error.data.fields);
  if (isServiceError(error, "UNAUTHENTICATED")) {
    return signInForm(wayOf(visit), { sentences: [error.message], status: 401 });
  }
  const showEnded = (status: number, sentence: string, intro: string) =>
    formPage({ title: t.title, intro, errors: { "": [sentence] }, status });
  if (isServiceError(error, "NOT_FOUND")) return showEnded(404, t.nowhere, t.another);
  if (isServiceError(error, "GONE")) return showEnded(410, error.message, t.another);
  if (isServiceError(error, "FORBIDDEN")) return showEnded(403, error.message, t.notMe);
  return undefined;
}

/** Starts a new session on acceptance, because the person's rights change. */
async function accept(visit: Visit, person: PersonVisit | undefined): Promise<Outcome> {
  const { password = "", first_name = "", last_name = "" } = visit.form;
  const given = { token: tokenOf(visit), ...(person ? {} : { password, first_name, last_name }) };
  try {
    const { company, access } = await callAs(visit, "accounts.acceptInvitation", given);
    if (person) await callAs(visit, "accounts.endSession", { id: visit.session.id });
    return { answer: { goTo: `/app/${company.id}` }, session: sessionFrom(access) };
  } catch (error) {
    const answer = refusal(visit, person, error);
    if (!answer) throw error;
    return { answer };
  }
}

/** Treats a visitor whose session has ended as signed out. */
function asNobody(visit: Visit): Visit {
  const { person: _, ...session } = visit.session;
  return { ...visit, session };
}

export const invitationPage = async (visit: Visit): Promise<Answer> => show(visit, await identify(visit));

export async function acceptInvitation(visit: Visit): Promise<Outcome> {
  const person = await identify(visit);
  return accept(person ?? asNobody(visit), person);
}

/** Asks for the password if none was sent. The person stays signed in even if the invitation is for somebody else. */
export async function signInAndAccept(visit: Visit): Promise<Outcome | Answer> {
  if (visit.form.email === undefined) return signInForm(wayOf(visit), {});
  const signedIn = await signedInBy(visit, wayOf(visit));
  if ("refused" in signedIn) return signedIn.refused;
  const { session } = signedIn;
  const person = await identify({ ...visit, session });
  return person ? { session, ...(await accept(person, person)) } : signInForm(wayOf(visit), {});
}
