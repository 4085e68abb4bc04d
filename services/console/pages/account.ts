/** The person's own account: email address, password, and sessions of the console and the API. */
import { config } from "../../lib/config.ts";
import { type Errors, orAgain } from "../form-errors.ts";
import { formPage, newPasswordField, passwordField } from "../form-fields.ts";
import { messages } from "../messages.ts";
import { type Answer, callAs, type Outcome, type PersonVisit, sessionFrom } from "../request.ts";

const HERE = "/app/account";

export const accountPage = (_: PersonVisit): Answer => ({
  view: "account",
  title: messages.account.title,
  values: {
    isRegistrationOpen: config().REGISTRATION === "open",
    sendsMail: config().SYSTEM_SMTP_URL !== undefined,
  },
});

export async function mailVerification(visit: PersonVisit): Promise<Answer> {
  await callAs(visit, "accounts.mailVerificationAgain", {});
  return { goTo: HERE, ...(config().SYSTEM_SMTP_URL === undefined ? {} : { notice: "linkMailed" }) };
}

function showPassword(errors: Errors = {}): Answer {
  const t = messages.password;
  return formPage({
    title: t.title,
    intro: t.intro,
    action: `${HERE}/password`,
    errors,
    button: t.button,
    fields: [passwordField("current_password", t.current), newPasswordField("new_password", t.new, t.newHint)],
  });
}

export const passwordPage = (_: PersonVisit): Answer => showPassword();

/** Replaces the session, so that a copy of the old cookie is signed out. */
export const changePassword = (visit: PersonVisit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      const { current_password = "", new_password = "" } = visit.form;
      const { access } = await callAs(visit, "accounts.changePassword", { current_password, new_password });
      return { answer: { goTo: HERE, notice: "passwordChanged" }, session: sessionFrom(access) };
    },
    async (errors) => showPassword(errors),
  );

export async function sessionsPage(visit: PersonVisit): Promise<Answer> {
  const sessions = await callAs(visit, "accounts.listSessions", {});
  return { view: "sessions", title: messages.sessions.title, values: { sessions } };
}

export async function endSessionForm(visit: PersonVisit): Promise<Answer> {
  await callAs(visit, "accounts.endSession", { id: visit.params.id! });
  return { goTo: `${HERE}/sessions` };
}
