/**
 * Pages for mailed links to a person's account: email verification, password reset, and requesting a reset. A GET
 * changes nothing, because scanners follow links; the token is passed on in the form and in no other URL.
 */
import { config } from "../../lib/config.ts";
import { type Errors, orAgain } from "../form-errors.ts";
import { formPage, newPasswordField } from "../form-fields.ts";
import { messages } from "../messages.ts";
import { type Answer, callAs, identify, type Outcome, sessionFrom, type Visit } from "../request.ts";

const tokenOf = ({ form, query }: Visit): string => form.token ?? query.token ?? "";

const isOver = (errors: Errors): boolean => errors.token !== undefined;

function showVerify(visit: Visit, errors: Errors = {}): Answer {
  const t = messages.verify;
  return formPage({
    title: t.title,
    action: "/app/verify",
    unseen: { token: tokenOf(visit) },
    errors,
    ...(isOver(errors) ? { ways: [{ label: t.another, href: "/app/account" }] } : { intro: t.intro, button: t.button }),
  });
}

export const verifyPage = (visit: Visit): Answer => showVerify(visit);

export const verify = (visit: Visit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      await callAs(visit, "accounts.verifyEmail", { token: tokenOf(visit) });
      const goTo = (await identify(visit)) ? "/app/account" : "/app/login";
      return { goTo, notice: "verified" };
    },
    async (errors) => showVerify(visit, errors),
  );

function showForgotten({ form }: Visit, errors: Errors = {}): Answer {
  const t = messages.forgotten;
  const ways = [{ label: messages.signIn.title, href: "/app/login" }];
  if (config().SYSTEM_SMTP_URL === undefined) return formPage({ title: t.title, intro: t.noMail, ways });
  const attributes = { autocomplete: "username", required: true } as const;
  return formPage({
    title: t.title,
    intro: t.intro,
    action: "/app/forgotten",
    errors,
    button: t.button,
    ways,
    fields: [{ name: "email", label: messages.signIn.email, kind: "email", value: form.email ?? "", attributes }],
  });
}

export const forgottenPage = (visit: Visit): Answer => showForgotten(visit);

/** Answers the same for every address, like the action. */
export const forgotten = (visit: Visit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      await callAs(visit, "accounts.askForReset", { email: visit.form.email ?? "" });
      return { goTo: "/app/forgotten", notice: "resetMailed" };
    },
    async (errors) => showForgotten(visit, errors),
  );

function showReset(visit: Visit, errors: Errors = {}): Answer {
  const t = messages.reset;
  return formPage({
    title: t.title,
    action: "/app/reset",
    unseen: { token: tokenOf(visit) },
    errors,
    ...(isOver(errors)
      ? { ways: [{ label: t.another, href: "/app/forgotten" }] }
      : { intro: t.intro, button: t.button, fields: [newPasswordField("new_password", t.password, t.passwordHint)] }),
  });
}

export const resetPage = (visit: Visit): Answer => showReset(visit);

/** Does not sign in: a second factor is still required. */
export const reset = (visit: Visit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      const { new_password = "" } = visit.form;
      await callAs(visit, "accounts.confirmReset", { token: tokenOf(visit), new_password });
      return { goTo: "/app/login", notice: "passwordSet" };
    },
    async (errors) => showReset(visit, errors),
  );

function showSignInLink(visit: Visit, errors: Errors = {}): Answer {
  const t = messages.signInLink;
  return formPage({
    title: messages.signIn.title,
    action: "/app/sign-in-link",
    unseen: { token: tokenOf(visit) },
    errors,
    ...(isOver(errors)
      ? { ways: [{ label: messages.signIn.title, href: "/app/login" }] }
      : { intro: t.intro, button: messages.signIn.title }),
  });
}

export const signInLinkPage = (visit: Visit): Answer => showSignInLink(visit);

export const signInByLink = (visit: Visit): Promise<Outcome | Answer> =>
  orAgain(
    async () => {
      const { access } = await callAs(visit, "accounts.signInByLink", { token: tokenOf(visit) });
      return { answer: { goTo: "/app/" }, session: sessionFrom(access) };
    },
    async (errors) => showSignInLink(visit, errors),
  );
