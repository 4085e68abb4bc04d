/**
 * Where the links of system mail lead: plain pages that verify an address, accept an invitation or set a password. A GET
 * changes nothing, since scanners follow links; the token of the link is the only credential, so that a form of another
 * site gains nothing.
 */
import type { CallingOptions } from "moleculer";
import type { ActionOf } from "../contracts.ts";
import { isServiceError } from "../lib/errors.ts";
import { PAGE_CSP, PAGE_CSS } from "../lib/page-style/page-style.ts";
import { throttleLink } from "./access/throttle.ts";
import { BODY_LIMITS } from "./http/body-cost.ts";
import { type Context, httpOf } from "./http/context.ts";
import { escapeHtml, htmlPage } from "./http/html-page.ts";
import type { Params } from "./http/params.ts";
import { readForm } from "./http/request-body.ts";
import type { RouteHandler } from "./http/router.ts";
import type { SharedBudget } from "./http/shared-budget.ts";

interface PageDeps {
  broker: { call(action: string, params: unknown, options: CallingOptions): Promise<unknown> };
  bodyBudget: SharedBudget;
}

interface Page {
  path: string;
  action: ActionOf;
  title: string;
  question: string;
  /** What the form asks for, beside the token. */
  fields: { name: string; label: string; type: "password" | "text"; autocomplete: string; required?: boolean }[];
  button: string;
  done: string;
}

const PASSWORD_LENGTH = 10;

const newPassword = { label: "New password", type: "password", autocomplete: "new-password", required: true } as const;

const PAGES: Page[] = [
  {
    path: "/app/verify/",
    action: "accounts.verifyEmail",
    title: "Confirm your address",
    question: "Does this mailbox belong to you?",
    fields: [],
    button: "Confirm",
    done: "Your address is confirmed.",
  },
  {
    path: "/app/reset/",
    action: "accounts.confirmReset",
    title: "Set a new password",
    question: "All sessions end when you do.",
    fields: [{ name: "new_password", ...newPassword }],
    button: "Set the password",
    done: "The new password is set. Sign in with it.",
  },
  {
    path: "/app/invitation/",
    action: "accounts.acceptInvitation",
    title: "Accept the invitation",
    question: "Choose a password for your new account. If you have an account already, sign in and accept there.",
    fields: [
      { name: "first_name", label: "First name", type: "text", autocomplete: "given-name" },
      { name: "last_name", label: "Last name", type: "text", autocomplete: "family-name" },
      { name: "password", ...newPassword },
    ],
    button: "Accept",
    done: "You are a member now. Sign in with your address and the password.",
  },
];

function show(context: Context, status: number, title: string, main: string): void {
  context.status = status;
  context.set({
    "Content-Security-Policy": PAGE_CSP,
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
  });
  context.type = "html";
  context.body = htmlPage(title, `<h1>${escapeHtml(title)}</h1>\n${main}`, PAGE_CSS);
}

const sentence = (text: string, more = "") => `<p${more}>${escapeHtml(text)}</p>`;

function form({ fields, button }: Page, token: string, given: Params): string {
  const inputs = fields.map(({ name, label, type, autocomplete, required }) => {
    const value = type === "text" ? ` value="${escapeHtml(String(given[name] ?? ""))}"` : "";
    const rules = `${type === "password" ? ` minlength="${PASSWORD_LENGTH}"` : ""}${required ? " required" : ""}`;
    return `<p><label for="${name}">${label}</label><br>
<input id="${name}" name="${name}" type="${type}" autocomplete="${autocomplete}"${rules}${value}></p>`;
  });
  return `<form method="post">
<input type="hidden" name="token" value="${escapeHtml(token)}">
${inputs.join("\n")}
<button type="submit">${button}</button>
</form>`;
}

const textOf = (value: unknown) => (typeof value === "string" ? value : "");

/** What a person can read of an error, and the status it has; undefined for what is no answer to the person. */
function refusalOf(error: unknown): { status: number; sentences: string[] } | undefined {
  if (isServiceError(error, "INVALID")) return { status: 400, sentences: Object.values(error.data.fields).flat() };
  const gone = "This link leads nowhere. It may have been cut off: copy all of it.";
  if (isServiceError(error, "NOT_FOUND")) return { status: 404, sentences: [gone] };
  if (isServiceError(error, "GONE")) return { status: 410, sentences: [error.message] };
  if (isServiceError(error, "UNAUTHENTICATED")) return { status: 401, sentences: [error.message] };
  return undefined;
}

function asked(page: Page): RouteHandler {
  return (context) => {
    context.state.route = page.path;
    const token = textOf(context.query.token);
    show(context, 200, page.title, sentence(page.question) + form(page, token, {}));
  };
}

function answered(page: Page, { broker, bodyBudget }: PageDeps): RouteHandler {
  return async (context) => {
    context.state.route = page.path;
    await throttleLink(context);
    const reservation = bodyBudget.open(context.state.ip);
    try {
      const given = await readForm(context, { limits: BODY_LIMITS.small, reservation });
      const token = textOf(given.token);
      const fields = page.fields.map(({ name }) => [name, textOf(given[name])]);
      const { requestId } = context.state;
      const meta = { requestId, http: httpOf(context) };
      try {
        await broker.call(page.action, { token, ...Object.fromEntries(fields) }, { meta, requestID: requestId });
      } catch (error) {
        const problem = refusalOf(error);
        if (!problem) throw error;
        const sentences = problem.sentences.map((text) => sentence(text, ' role="alert"')).join("\n");
        const again = problem.status === 400 ? form(page, token, given) : "";
        show(context, problem.status, page.title, sentences + again);
        return;
      }
      show(context, 200, page.title, sentence(page.done));
    } finally {
      reservation.release();
    }
  };
}

export const accountPages = (deps: PageDeps): [method: string, path: string, handler: RouteHandler][] =>
  PAGES.flatMap((page): [string, string, RouteHandler][] => [
    ["GET", page.path, asked(page)],
    ["POST", page.path, answered(page, deps)],
  ]);
