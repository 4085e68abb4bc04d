/** A request as pages see it: who asks, in which company, for what; and what they answer. */
import type { Readable } from "node:stream";
import type { CallingOptions } from "moleculer";
import { call } from "../call.ts";
import type { ActionOf, ParamsOf, ReturnsOf } from "../contracts.ts";
import type { Caller, Ctx } from "../lib/caller.ts";
import { isServiceError } from "../lib/errors.ts";
import { isAtLeast, type Role } from "../lib/rights.ts";
import { verifyBearer } from "../lib/tokens/bearer.ts";
import { type ConsoleSession, sessionOf } from "../lib/tokens/console-session.ts";
import { type PermittedAction, permissionOf, requirePermission } from "../permissions.ts";
import type { Shown } from "./contract.ts";
import type { NoticeName } from "./messages/notices.ts";

export interface Company {
  id: string;
  name: string;
  role: Role;
  timezone: string;
}

export type User = ReturnsOf<"accounts.me">["user"];

/** Of everybody, also of who is not signed in. */
export interface Visit {
  ctx: Ctx;
  path: string;
  query: Record<string, string>;
  session: ConsoleSession;
  /** Named parts of the path (pages.ts). */
  params: Record<string, string>;
  /** Empty for a page that is only shown. */
  form: Record<string, string>;
  /** Of a form with a file. */
  file?: UploadedFile;
}

export interface UploadedFile {
  filename: string;
  content_type: string;
  size: number;
  stream: Readable;
}

/** Of a person who is signed in. */
export interface PersonVisit extends Visit {
  user: User;
  companies: Company[];
}

/** Of a page of one company, of which the person is a member. */
export interface CompanyVisit extends PersonVisit {
  company: Company;
}

/** Of an operator, who has come by a link and is no person of any company. */
export interface OperatorVisit extends Visit {
  operator: { id: string; name: string; expires_at: string };
}

/** What a page answers: values for its view; where to go, and what to say there; a document of its own. */
export type Answer =
  | { view: string; title: string; values?: Record<string, unknown>; status?: number }
  | { goTo: string; notice?: NoticeName }
  | Shown;

/** `session`: the browser has another one from now on. `kept`: a form to show again, filled in, in place of the answer. */
export type Outcome = { answer: Answer; session?: ConsoleSession; kept?: Kept };

export interface Kept {
  /** Where the form goes, below /app/. */
  path: string;
  fields: Record<string, string>;
}

const metaOf = ({ ctx, session }: Visit): Caller => ({
  ...(ctx.meta.requestId ? { requestId: ctx.meta.requestId } : {}),
  ...(ctx.meta.waitLeftMs === undefined ? {} : { waitLeftMs: ctx.meta.waitLeftMs }),
  ...(ctx.meta.http ? { http: ctx.meta.http, ip: ctx.meta.http.ip } : {}),
  ...(session.person ? { userId: session.person.userId, sessionId: session.id } : {}),
});

/** The browser's session from the bearer token of a login. */
export function sessionFrom(access: string): ConsoleSession {
  const { sessionId, ...person } = verifyBearer(access)!;
  return sessionOf({ ...person, sessionId: sessionId! });
}

const withMeta = (meta: Caller): CallingOptions & { meta: Caller } => ({ meta });

/** An action that is about the person, or about nobody. */
export const callAs = <A extends ActionOf>(visit: Visit, action: A, params: ParamsOf<A>): Promise<ReturnsOf<A>> =>
  call(visit.ctx.broker, action, params, withMeta(metaOf(visit)));

/** A change to a company that the person has just made, and so owns. */
export const callAsOwner = (
  visit: Visit,
  companyId: string,
  params: ParamsOf<"accounts.updateCompany">,
): Promise<ReturnsOf<"accounts.updateCompany">> =>
  call(visit.ctx.broker, "accounts.updateCompany", params, withMeta({ ...metaOf(visit), companyId, role: "owner" }));

/** Who is signed in with this browser; undefined where nobody is, or the session has ended. */
export async function identify(visit: Visit, isPoll = false): Promise<PersonVisit | undefined> {
  const { person } = visit.session;
  if (!person) return undefined;
  try {
    // Side by side, to wait once: what is read of a person whose session has ended goes nowhere.
    const [{ user, companies }] = await Promise.all([
      callAs(visit, "accounts.me", {}),
      callAs(visit, isPoll ? "accounts.requireSession" : "accounts.continueSession", person),
    ]);
    return { ...visit, user, companies };
  } catch (error) {
    if (isServiceError(error, "UNAUTHENTICATED")) return undefined;
    throw error;
  }
}

/** What operators' pages may ask and do: the operators' commands, and nothing of a company's people. */
type OperatorAction =
  | Extract<ActionOf, `operator.${string}`>
  | "accounts.listCompanies"
  | "accounts.listPlans"
  | "accounts.setPlan"
  | "accounts.pauseCompany"
  | "accounts.resumeCompany"
  | "campaigns.stopAny";

/** No route leads to these actions: only a session that was looked up for this request calls them. */
export const callFor = <A extends OperatorAction>(
  visit: OperatorVisit,
  action: A,
  params: ParamsOf<A>,
): Promise<ReturnsOf<A>> => {
  const { requestId, http } = visit.ctx.meta;
  const meta = {
    ...(requestId ? { requestId } : {}),
    ...(http ? { ip: http.ip } : {}),
    operatorSessionId: visit.operator.id,
  };
  return call(visit.ctx.broker, action, params, withMeta(meta));
};

const callerIn = (visit: CompanyVisit): Caller => {
  const { id: companyId, role } = visit.company;
  return { ...metaOf(visit), companyId, role };
};

/** An action of the API within the company, under the same rules: 403 where the role is not enough. */
export function callIn<A extends PermittedAction & ActionOf>(
  visit: CompanyVisit,
  action: A,
  params: ParamsOf<A>,
  options: CallingOptions & { stream?: Readable } = {},
): Promise<ReturnsOf<A>> {
  requirePermission(action, { role: visit.company.role });
  return call(visit.ctx.broker, action, params, { ...options, ...withMeta(callerIn(visit)) });
}

/** An action of no route, such as a preview: whoever calls it has asked for the right that it needs. */
export const callUnder = <A extends ActionOf>(
  visit: CompanyVisit,
  action: A,
  params: ParamsOf<A>,
): Promise<ReturnsOf<A>> => call(visit.ctx.broker, action, params, withMeta(callerIn(visit)));

/** A CSV that an action of the API gives page by page, under the same rules. */
export function download<A extends PermittedAction & ActionOf>(
  visit: CompanyVisit,
  action: A,
  params: ParamsOf<A>,
  filename: string,
): Shown {
  requirePermission(action, { role: visit.company.role });
  return {
    content_type: "text/csv; charset=utf-8",
    body: "",
    body_from: { action, params },
    as: callerIn(visit),
    headers: { "content-disposition": `attachment; filename="${filename}"`, "cache-control": "no-store" },
  };
}

/** Of a page that is a form: a 403 for who may not send it. */
export const requireMay = ({ company }: CompanyVisit, action: PermittedAction): void =>
  requirePermission(action, { role: company.role });

/** Whether a page shows the button. */
export const may = ({ company }: CompanyVisit, action: PermittedAction): boolean =>
  isAtLeast(company.role, permissionOf(action)!.role);

export const companyPath = ({ company }: CompanyVisit, rest = ""): string => `/app/${company.id}${rest && `/${rest}`}`;
