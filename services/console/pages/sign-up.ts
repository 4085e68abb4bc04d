/** A person and a company that nobody knows yet. */
import { config } from "../../lib/config.ts";
import { forbidden } from "../../lib/errors.ts";
import { type Errors, orAgain } from "../form-errors.ts";
import { formPage, newPasswordField } from "../form-fields.ts";
import { messages } from "../messages.ts";
import { type Answer, callAs, type Outcome, sessionFrom, type Visit } from "../request.ts";

/** Longest names of the API. */
const MAX_NAME = 150;
const MAX_COMPANY_NAME = 255;

function show({ form }: Visit, errors: Errors = {}): Answer {
  // The sentence is the API's own.
  if (config().REGISTRATION !== "open") throw forbidden("Registration is by invitation only.");
  const t = messages.signUp;
  const name = (key: "first_name" | "last_name", label: string, autocomplete: string) =>
    ({ name: key, label, kind: "text", value: form[key], attributes: { autocomplete, maxlength: MAX_NAME } }) as const;
  return formPage({
    title: t.title,
    intro: t.intro,
    action: "/app/sign-up",
    errors,
    button: t.button,
    ways: [{ label: t.toSignIn, href: "/app/login" }],
    fields: [
      {
        name: "company_name",
        label: t.company,
        hint: t.companyHint,
        kind: "text",
        value: form.company_name,
        attributes: { autocomplete: "organization", maxlength: MAX_COMPANY_NAME, required: true },
      },
      name("first_name", t.firstName, "given-name"),
      name("last_name", t.lastName, "family-name"),
      {
        name: "email",
        label: messages.signIn.email,
        kind: "email",
        value: form.email,
        attributes: { autocomplete: "username", required: true },
      },
      newPasswordField("password", t.password, t.passwordHint),
    ],
  });
}

export const signUpPage = (visit: Visit): Answer => show(visit);

/** Whoever signs up is signed in, and comes to the first steps. */
export const signUp = (visit: Visit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      const { email = "", password = "", company_name = "", first_name = "", last_name = "" } = visit.form;
      const given = { email, password, company_name, first_name, last_name };
      const { company, access } = await callAs(visit, "accounts.register", given);
      return { answer: { goTo: `/app/${company.id}` }, session: sessionFrom(access) };
    },
    async (errors) => show(visit, errors),
  );
