/** Two-factor authentication: enabled with a code, disabled with password and code. Recovery codes are shown once. */
import { qrPath } from "../../lib/qr-code.ts";
import { type Errors, orAgain } from "../form-errors.ts";
import { codeField, formPage, passwordField } from "../form-fields.ts";
import { messages } from "../messages.ts";
import { type Answer, callAs, type Outcome, type PersonVisit } from "../request.ts";

const HERE = "/app/account/two-factor";

function showOff(errors: Errors = {}): Answer {
  const t = messages.twoFactor;
  return formPage({
    title: t.title,
    intro: `${t.on} ${t.switchOffIntro}`,
    action: `${HERE}/off`,
    errors,
    button: t.switchOff,
    danger: true,
    fields: [passwordField("password", messages.password.current), codeField(t.switchOffCode)],
  });
}

export function twoFactorPage({ user }: PersonVisit): Answer {
  if (user.totp_enabled) return showOff();
  const t = messages.twoFactor;
  return formPage({ title: t.title, intro: `${t.off} ${t.intro}`, action: HERE, button: t.begin });
}

interface Secret {
  secret: string;
  uri: string;
}

/** Groups of four characters, easier to copy by hand. */
const grouped = (secret: string): string => secret.replace(/(.{4})(?=.)/g, "$1 ");

function showSecret({ secret, uri }: Secret, errors: Errors = {}): Answer {
  const t = messages.twoFactor;
  const picture = uri === "" ? undefined : qrPath(uri);
  const values = { secret, grouped: grouped(secret), uri, picture, errors, here: HERE, code: codeField(t.code) };
  return { view: "two-factor", title: t.title, values };
}

export const beginTwoFactor = (visit: PersonVisit): Promise<Outcome | Answer> =>
  orAgain(
    async () => showSecret(await callAs(visit, "accounts.beginTotp", {})),
    async (errors) => formPage({ title: messages.twoFactor.title, errors }),
  );

/** The secret from the form is only for display; the action uses the stored one. */
function secretOf({ form }: PersonVisit): Secret {
  const { secret = "", uri = "" } = form;
  return { secret, uri: uri.startsWith("otpauth://totp/") ? uri : "" };
}

export const confirmTwoFactor = (visit: PersonVisit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      const { recovery_codes } = await callAs(visit, "accounts.confirmTotp", { code: visit.form.code ?? "" });
      return { view: "recovery-codes", title: messages.twoFactor.codesTitle, values: { codes: recovery_codes } };
    },
    async (errors) => showSecret(secretOf(visit), errors),
  );

export const endTwoFactor = (visit: PersonVisit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      const { password = "", code = "" } = visit.form;
      await callAs(visit, "accounts.removeTotp", { password, code });
      return { goTo: HERE, notice: "secondFactorOff" };
    },
    async (errors) => showOff(errors),
  );
