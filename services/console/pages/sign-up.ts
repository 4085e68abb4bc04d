/** Registers a person and a company. */
import { config } from "../../lib/config.ts";
import { forbidden, isServiceError } from "../../lib/errors.ts";
import { type Errors, orAgain } from "../form-errors.ts";
import { type Field, formPage, nameFields, newPasswordField } from "../form-fields.ts";
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

const companyField = (name: string, label: string, value: string | undefined): Field => ({
  name,
  label,
  hint: messages.signUp.companyHint,
  kind: "text",
  value: value ?? "",
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
      companyField("company_name", t.company, form.company_name),
      ...nameFields(form),
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
      const { email = "", password = "", company_name = "", first_name = "", last_name = "" } = visit.form;
      const given = { email, password, company_name, first_name, last_name };
      const { company, access } = await callAs(visit, "accounts.register", given);
      const session = sessionFrom(access);
      await setZone({ ...visit, session }, company.id);
      return { answer: { goTo: `/app/${company.id}` }, session };
    },
    async (errors) => show(visit, errors),
  );

function showNewCompany({ form }: PersonVisit, errors: Errors = {}): Answer {
  requireOpen();
  const t = messages.newCompany;
  const fields = [companyField("name", messages.signUp.company, form.name)];
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
