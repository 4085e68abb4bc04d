/** Registers a person and a company. */
import { config } from "../../lib/config.ts";
import { forbidden, invalid, isServiceError } from "../../lib/errors.ts";
import { type Errors, orAgain } from "../form-errors.ts";
import { type Field, formPage, MAX_NAME, newPasswordField } from "../form-fields.ts";
import { messages } from "../messages.ts";
import {
  type Answer,
  callAs,
  callAsOwner,
  type Outcome,
  type PersonVisit,
  sessionFrom,
  type Visit,
} from "../request.ts";

/** Maximum length in the API. */
const MAX_COMPANY_NAME = 255;

/** Throws the API's error if registration is closed. */
function requireOpen(): void {
  if (config().REGISTRATION !== "open") throw forbidden("Registration is by invitation only.");
}

const companyField = (value = ""): Field => ({
  name: "name",
  label: messages.signUp.company,
  hint: messages.signUp.companyHint,
  kind: "text",
  value,
  attributes: { autocomplete: "organization", maxlength: MAX_COMPANY_NAME, required: true },
});

function show({ form }: Visit, errors: Errors = {}): Answer {
  requireOpen();
  const t = messages.signUp;
  return formPage({
    title: t.title,
    intro: t.intro,
    action: "/app/sign-up",
    errors,
    unseen: { timezone: form.timezone ?? "" },
    button: t.button,
    ways: [{ label: t.toSignIn, href: "/app/login" }],
    fields: [
      {
        name: "name",
        label: t.name,
        kind: "text",
        value: form.name ?? "",
        attributes: { autocomplete: "name", maxlength: 2 * MAX_NAME, required: true },
      },
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

/** Splits the name. The company is called after the person until the setup card gives it a name. */
function namesOf({ form }: Visit) {
  const { name = "" } = form;
  const [first_name = "", ...others] = name.trim().split(/\s+/);
  if (first_name === "") throw invalid({ name: [messages.signUp.noName] });
  return { first_name, last_name: others.join(" "), company_name: messages.signUp.companyOf(first_name) };
}

/** Sets the browser's time zone, which a script fills in. An unknown zone leaves the default. */
async function setZone(visit: Visit, id: string): Promise<void> {
  const { timezone = "" } = visit.form;
  if (timezone === "") return;
  await callAsOwner(visit, id, { id, timezone }).catch((error: unknown) => {
    if (!isServiceError(error, "INVALID")) throw error;
  });
}

export const signUpPage = (visit: Visit): Answer => show(visit);

/** Signs the new person in and shows the first steps. */
export const signUp = (visit: Visit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      const { email = "", password = "" } = visit.form;
      const { company, access } = await callAs(visit, "accounts.register", { email, password, ...namesOf(visit) });
      const session = sessionFrom(access);
      await setZone({ ...visit, session }, company.id);
      return { answer: { goTo: `/app/${company.id}` }, session };
    },
    async (errors) => show(visit, errors),
  );

function showNewCompany({ form }: PersonVisit, errors: Errors = {}): Answer {
  requireOpen();
  const t = messages.newCompany;
  const fields = [companyField(form.name)];
  const unseen = { timezone: form.timezone ?? "" };
  const action = "/app/companies/new";
  return formPage({ title: t.title, intro: t.intro, action, errors, button: t.button, fields, unseen });
}

export const newCompanyPage = (visit: PersonVisit): Answer => showNewCompany(visit);

export const addCompany = (visit: PersonVisit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      const { id } = await callAs(visit, "accounts.addCompany", { name: visit.form.name ?? "" });
      await setZone(visit, id);
      return { goTo: `/app/${id}` };
    },
    async (errors) => showNewCompany(visit, errors),
  );
