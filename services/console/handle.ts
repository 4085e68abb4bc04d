/**
 * Handles a console request in fixed steps: cookie, session, form token, person, company, page. All pages and forms
 * take this path, so that no check can be left out.
 */
import type { Readable } from "node:stream";
import type { ParamsOf } from "../contracts.ts";
import type { Ctx } from "../lib/caller.ts";
import { forbidden, isServiceError, notFound } from "../lib/errors.ts";
import { isUuid } from "../lib/ids.ts";
import { isAtLeast } from "../lib/rights.ts";
import {
  type ConsoleSession,
  isDueForRenewal,
  isFormToken,
  newVisitor,
  readSession,
  senderOf,
  signSession,
} from "../lib/tokens/console-session.ts";
import { isForOperators, type RawResponse } from "./contract.ts";
import { pageAsJson } from "./json-answer.ts";
import { keep, withTyped } from "./kept-form.ts";
import { linkPages, operatorPages } from "./operator-pages.ts";
import { signInAgain } from "./pages/sign-in.ts";
import { companyPages, findPage, openPages, personPages } from "./pages.ts";
import { cookieOf, problemOf, render } from "./render.ts";
import {
  type Answer,
  type Company,
  type CompanyVisit,
  callAs,
  identify,
  type KeptForm,
  type OperatorVisit,
  type Outcome,
  type UploadedFile,
  type Visit,
} from "./request.ts";

type PageParams = ParamsOf<"console.page"> & {
  form?: Record<string, string>;
  formToken?: string;
  file?: UploadedFile;
};

const STALE_FORM = "This page has expired. Go back, reload it and try again.";

/** Returns the signed-in operator, as `identify` does for people. */
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

function addressOf({ path, query }: Pick<Visit, "path" | "query">): string {
  const search = new URLSearchParams(query).toString();
  return `/app/${path}${search && `?${search}`}`;
}

const hasPage = (path: string): boolean => {
  const [id = "", ...rest] = path.split("/");
  return isUuid(id)
    ? Boolean(findPage(companyPages, rest.join("/"), "page"))
    : Boolean(findPage(personPages, path, "page"));
};

/** Returns the page that contains the form: the same path, or the nearest page above it. */
function pageOfForm(path: string): string {
  const parts = path.split("/");
  while (parts.length > 0 && !hasPage(parts.join("/"))) parts.pop();
  return parts.join("/");
}

/** Redirects to the sign-in page, and from there back to the requested page. A form's path may have no page. */
function toSignIn(visit: Visit, isWrite: boolean): Answer {
  const next = addressOf(visit);
  if (isWrite && visit.session.person) return signInAgain(`/app/${pageOfForm(visit.path)}`, keep(visit));
  return { goTo: isWrite || visit.path === "" ? "/app/login" : `/app/login?${new URLSearchParams({ next })}` };
}

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

interface How {
  isWrite: boolean;
  isPoll: boolean;
  seen: (visit: Visit) => void;
}

async function answer(visit: Visit, { isWrite, isPoll, seen }: How): Promise<Outcome> {
  const method = isWrite ? "form" : "page";
  if (isForOperators(visit.path)) return answerOperator(visit, method, seen);
  const open = findPage(openPages, visit.path, method);
  if (open) return outcomeOf(await open.show(visit));
  const person = await identify(visit, isPoll);
  if (!person) return { answer: toSignIn(visit, isWrite) };
  seen(person);
  const personPage = findPage(personPages, visit.path, method);
  if (personPage) return outcomeOf(await personPage.show({ ...person, params: personPage.params }));
  const [id = "", ...rest] = visit.path.split("/");
  const company = person.companies.find((one: Company) => isUuid(id) && one.id === id.toLowerCase());
  const found = company && findPage(companyPages, rest.join("/"), method);
  if (!found) throw notFound();
  const within: CompanyVisit = { ...person, company, params: found.params };
  seen(within);
  // Checked before any lookup, and also for forms that only count or preview.
  if (isWrite && !found.forViewers && !isAtLeast(company.role, "member")) throw forbidden();
  return outcomeOf(await found.show(within));
}

/** Content of the browser's cookie. */
interface Had {
  /** A session that is still valid. */
  session: ConsoleSession | undefined;
  /** An expired session: it grants no rights, but its forms are kept. */
  ended: ConsoleSession | undefined;
}

function hadBy({ cookie, path }: PageParams): Had {
  if (cookie === undefined) return { session: undefined, ended: undefined };
  const session = readSession(cookie) ?? undefined;
  const mayBeEnded = !session && !isForOperators(path);
  return { session, ended: (mayBeEnded && readSession(cookie, { alsoEnded: true })) || undefined };
}

interface Sessions extends Pick<Had, "session"> {
  next: ConsoleSession;
  isPoll: boolean;
}

function headersOf(visit: Visit, { next, session, isPoll }: Sessions): Record<string, string> {
  return next === session && (isPoll || !isDueForRenewal(next))
    ? {}
    : { "set-cookie": cookieOf(signSession(next), visit) };
}

/**
 * Shows the page of a kept form, for `finish` to fill in. If the page is gone, the answer contains the typed text: the
 * person is signed in either way.
 */
async function showAgain<R>(
  visit: Visit,
  kept: KeptForm,
  how: Omit<How, "isWrite">,
  finish: (page: Answer, kept?: KeptForm) => R,
): Promise<R> {
  try {
    const { answer: page } = await answer(visit, { ...how, isWrite: false });
    return finish(page, kept);
  } catch (error) {
    const problem = problemOf(error);
    if (!problem) throw error;
    return finish(withTyped(problem, kept));
  }
}

async function handle(ctx: Ctx<unknown>, asked: PageParams, isWrite: boolean): Promise<RawResponse> {
  const { path, query, form = {}, file, isPoll = false, wantsJson = false } = asked;
  const had = hadBy(asked);
  // Keeps an expired cookie until somebody signs in: a page that refreshes itself must not remove it while the user
  // still has a form open.
  const { person: _, ...stranger } = had.ended ?? newVisitor();
  const session = had.session ?? stranger;
  let visit: Visit = { ctx, path, query, session, params: {}, form, ...(file ? { file } : {}) };
  const finish = (given: Answer, next = session, kept?: KeptForm) => {
    const isKept = had.ended !== undefined && next === session;
    const headers = isKept ? {} : headersOf(visit, { next, session: had.session, isPoll });
    return render(wantsJson ? pageAsJson(given) : given, { ...visit, session: next }, headers, kept);
  };
  const seen = (now: Visit) => {
    visit = now;
  };
  try {
    const token = asked.formToken ?? form.form_token ?? "";
    const sender = had.session ?? had.ended;
    if (isWrite && !(sender && isFormToken(sender, token))) {
      if (wantsJson) return finish({ goTo: "/app/login" });
      const shownTo = !had.session?.person && !findPage(openPages, path, "form") && senderOf(token);
      if (shownTo) return finish(toSignIn({ ...visit, session: shownTo }, true));
      throw forbidden(STALE_FORM);
    }
    if (isWrite && had.ended && !findPage(openPages, path, "form")) {
      return finish(toSignIn({ ...visit, session: had.ended }, true));
    }
    const { answer: given, session: next, kept } = await answer(visit, { isWrite, isPoll, seen });
    if (!kept || !next) return finish(given, next);
    const formVisit: Visit = { ctx, path: pageOfForm(kept.path), query: {}, session: next, params: {}, form: {} };
    visit = formVisit;
    return await showAgain(formVisit, kept, { isPoll, seen }, (page, filled) => finish(page, next, filled));
  } catch (error) {
    const problem = problemOf(error);
    if (!problem) throw error;
    return finish(problem);
  }
}

export const showPage = (ctx: Ctx<ParamsOf<"console.page">>): Promise<RawResponse> => handle(ctx, ctx.params, false);
export const takeForm = (ctx: Ctx<ParamsOf<"console.submit">>): Promise<RawResponse> => handle(ctx, ctx.params, true);

export function takeUpload(ctx: Ctx<ParamsOf<"console.upload">>): Promise<RawResponse> {
  const { filename, content_type, size, ...asked } = ctx.params;
  return handle(ctx, { ...asked, file: { filename, content_type, size, stream: ctx.stream as Readable } }, true);
}
