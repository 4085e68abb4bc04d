/**
 * A request of the console from its cookie to its answer: session, form token, person, company, page. Every page and every
 * form goes this way, so that none can leave a step out.
 */
import type { ParamsOf } from "../contracts.ts";
import type { Ctx } from "../lib/caller.ts";
import { forbidden, isServiceError, notFound } from "../lib/errors.ts";
import { isUuid } from "../lib/ids.ts";
import {
  type ConsoleSession,
  isDueForRenewal,
  isFormToken,
  newVisitor,
  readSession,
  signSession,
} from "../lib/tokens/console-session.ts";
import { isForOperators, type Shown } from "./contract.ts";
import { linkPages, operatorPages } from "./operator-pages.ts";
import { companyPages, findPage, openPages, personPages } from "./pages.ts";
import { cookieOf, problemOf, render } from "./render.ts";
import {
  type Answer,
  type Company,
  type CompanyVisit,
  callAs,
  type OperatorVisit,
  type Outcome,
  type PersonVisit,
  type UploadedFile,
  type Visit,
} from "./request.ts";

type Asked = ParamsOf<"console.page"> & {
  form?: Record<string, string>;
  formToken?: string;
  file?: UploadedFile;
};

const STALE_FORM = "This form is no longer valid. Go back, load the page again, and send it once more.";

/** Throws the 401 that leads to sign-in where the session has ended. */
async function identify(visit: Visit): Promise<PersonVisit | undefined> {
  const { person } = visit.session;
  if (!person) return undefined;
  try {
    await callAs(visit, "accounts.continueSession", person);
    const { user, companies } = await callAs(visit, "accounts.me", {});
    return { ...visit, user, companies };
  } catch (error) {
    if (isServiceError(error, "UNAUTHENTICATED")) return undefined;
    throw error;
  }
}

/** The same of an operator. */
async function identifyOperator(visit: Visit): Promise<OperatorVisit | undefined> {
  const { id, isOperator } = visit.session;
  if (!isOperator) return undefined;
  try {
    return { ...visit, operator: await callAs(visit, "operator.continueSession", { id }) };
  } catch (error) {
    if (isServiceError(error, "UNAUTHENTICATED")) return undefined;
    throw error;
  }
}

const outcomeOf = (given: Outcome | Answer): Outcome => ("answer" in given ? given : { answer: given });

const toSignIn = ({ path, query }: Visit): Answer => {
  const search = new URLSearchParams(query).toString();
  const next = `/app/${path}${search && `?${search}`}`;
  return { goTo: path === "" ? "/app/login" : `/app/login?${new URLSearchParams({ next })}` };
};

async function answerOperator(visit: Visit, method: "form" | "page", seen: (visit: Visit) => void): Promise<Outcome> {
  const open = findPage(linkPages, visit.path, method);
  if (open) return outcomeOf(await open.show(visit));
  const operator = await identifyOperator(visit);
  if (!operator) return { answer: { goTo: "/app/operator/sign-in" } };
  seen(operator);
  const found = findPage(operatorPages, visit.path, method);
  if (!found) throw notFound();
  return outcomeOf(await found.show({ ...operator, params: found.params }));
}

async function answer(visit: Visit, isWrite: boolean, seen: (visit: Visit) => void): Promise<Outcome> {
  const method = isWrite ? "form" : "page";
  if (isForOperators(visit.path)) return answerOperator(visit, method, seen);
  const open = findPage(openPages, visit.path, method);
  if (open) return outcomeOf(await open.show(visit));
  const person = await identify(visit);
  if (!person) return { answer: toSignIn(visit) };
  seen(person);
  const own = findPage(personPages, visit.path, method);
  if (own) return outcomeOf(await own.show({ ...person, params: own.params }));
  const [id = "", ...rest] = visit.path.split("/");
  const company = person.companies.find((one: Company) => isUuid(id) && one.id === id.toLowerCase());
  const found = company && findPage(companyPages, rest.join("/"), method);
  if (!found) throw notFound();
  const within: CompanyVisit = { ...person, company, params: found.params };
  seen(within);
  return outcomeOf(await found.show(within));
}

function headersOf(visit: Visit, session: ConsoleSession, had: ConsoleSession | undefined): Record<string, string> {
  return session === had && !isDueForRenewal(session) ? {} : { "set-cookie": cookieOf(signSession(session), visit) };
}

async function handle(ctx: Ctx<unknown>, asked: Asked, isWrite: boolean): Promise<Shown> {
  const { path, query, cookie, form = {}, file } = asked;
  const had = (cookie === undefined ? null : readSession(cookie)) ?? undefined;
  const session = had ?? newVisitor();
  let visit: Visit = { ctx, path, query, session, params: {}, form, ...(file ? { file } : {}) };
  const finish = (given: Answer, next = session) =>
    render(given, { ...visit, session: next }, headersOf(visit, next, had));
  try {
    const token = asked.formToken ?? form.form_token ?? "";
    if (isWrite && !(had && isFormToken(had, token))) throw forbidden(STALE_FORM);
    const { answer: given, session: next } = await answer(visit, isWrite, (now) => {
      visit = now;
    });
    return finish(given, next);
  } catch (error) {
    const problem = problemOf(error);
    if (!problem) throw error;
    return finish(problem);
  }
}

export const showPage = (ctx: Ctx<ParamsOf<"console.page">>): Promise<Shown> => handle(ctx, ctx.params, false);
export const takeForm = (ctx: Ctx<ParamsOf<"console.submit">>): Promise<Shown> => handle(ctx, ctx.params, true);

export function takeUpload(ctx: Ctx<ParamsOf<"console.upload">>): Promise<Shown> {
  const { filename, content_type, size, ...asked } = ctx.params;
  return handle(ctx, { ...asked, file: { filename, content_type, size, stream: ctx.stream! } }, true);
}
