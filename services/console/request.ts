/**
 * Types of requests and answers of pages, and how pages call actions: who asks, for which company, with which
 * parameters.
 */
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
import type { RawResponse } from "./contract.ts";
import type { NoticeName } from "./messages/notices.ts";

export interface Company {
  id: string;
  name: string;
  role: Role;
  timezone: string;
}

export type User = ReturnsOf<"accounts.me">["user"];

/** A request of any visitor, signed in or not. */
export interface Visit {
  ctx: Ctx;
  path: string;
  query: Record<string, string>;
  session: ConsoleSession;
  /** Named parts of the path (pages.ts). */
  params: Record<string, string>;
  /** Form fields; empty for GET requests. */
  form: Record<string, string>;
  /** File of an upload form. */
  file?: UploadedFile;
}

export interface UploadedFile {
  filename: string;
  content_type: string;
  size: number;
  stream: Readable;
}

/** A request of a signed-in person. */
export interface PersonVisit extends Visit {
  user: User;
  companies: Company[];
}

/** A request for a page of a company that the person is a member of. */
export interface CompanyVisit extends PersonVisit {
  company: Company;
}

/** A request of an operator, who signed in by a link and has no user account. */
export interface OperatorVisit extends Visit {
  operator: { id: string; name: string; expires_at: string };
}

/** Answer of a page: values for its view, a redirect with a message, or a document. */
export type Answer =
  | { view: string; title: string; values?: Record<string, unknown>; status?: number }
  | { goTo: string; notice?: NoticeName }
  | RawResponse;

/** `session`: new session of the browser. `kept`: a saved form to show again, filled in, instead of the answer. */
export type Outcome = { answer: Answer; session?: ConsoleSession; kept?: KeptForm };

export interface KeptForm {
  /** Path of the form's action below /app/. */
  path: string;
  fields: Record<string, string>;
}

const metaOf = ({ ctx, session }: Visit): Caller => ({
  ...(ctx.meta.requestId ? { requestId: ctx.meta.requestId } : {}),
  ...(ctx.meta.waitLeftMs === undefined ? {} : { waitLeftMs: ctx.meta.waitLeftMs }),
  ...(ctx.meta.http ? { http: ctx.meta.http, ip: ctx.meta.http.ip } : {}),
  ...(session.person ? { userId: session.person.userId, sessionId: session.id } : {}),
});

/** Creates the browser's session from the bearer token of a login. */
export function sessionFrom(access: string): ConsoleSession {
  const { sessionId, ...person } = verifyBearer(access)!;
  return sessionOf({ ...person, sessionId: sessionId! });
}

const withMeta = (meta: Caller): CallingOptions & { meta: Caller } => ({ meta });

/** Calls an action as the person, outside any company. */
export const callAs = <A extends ActionOf>(visit: Visit, action: A, params: ParamsOf<A>): Promise<ReturnsOf<A>> =>
  call(visit.ctx.broker, action, params, withMeta(metaOf(visit)));

/** Calls an action as owner of a company that the person has just created. */
export const callAsOwner = (
  visit: Visit,
  companyId: string,
  params: ParamsOf<"accounts.updateCompany">,
): Promise<ReturnsOf<"accounts.updateCompany">> =>
  call(visit.ctx.broker, "accounts.updateCompany", params, withMeta({ ...metaOf(visit), companyId, role: "owner" }));

/** Returns the person who is signed in with this browser; undefined if nobody is or the session has ended. */
export async function identify(visit: Visit, isPoll = false): Promise<PersonVisit | undefined> {
  const { person } = visit.session;
  if (!person) return undefined;
  try {
    // Reads both in parallel. The person's data is discarded if the session has ended.
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

/** Actions that operator pages may call: those of operator commands, and none of companies. */
type OperatorAction =
  | Extract<ActionOf, `operator.${string}`>
  | "accounts.listCompanies"
  | "accounts.listPlans"
  | "accounts.setPlan"
  | "accounts.pauseCompany"
  | "accounts.resumeCompany"
  | "campaigns.stopAny";

/**
 * Calls an operator action. Only a session that was verified for this request reaches it, since these actions have no
 * API route.
 */
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

/** Calls an API action for the company under the API's permission rules: 403 if the role does not allow it. */
export function callIn<A extends PermittedAction & ActionOf>(
  visit: CompanyVisit,
  action: A,
  params: ParamsOf<A>,
  options: CallingOptions & { stream?: Readable } = {},
): Promise<ReturnsOf<A>> {
  requirePermission(action, { role: visit.company.role });
  return call(visit.ctx.broker, action, params, { ...options, ...withMeta(callerIn(visit)) });
}

/** Calls an action that has no API route, such as a preview. The caller must have checked the permission. */
export const callUnder = <A extends ActionOf>(
  visit: CompanyVisit,
  action: A,
  params: ParamsOf<A>,
): Promise<ReturnsOf<A>> => call(visit.ctx.broker, action, params, withMeta(callerIn(visit)));

/** Downloads the CSV that an API action returns page by page, under the API's permission rules. */
export function download<A extends PermittedAction & ActionOf>(
  visit: CompanyVisit,
  action: A,
  params: ParamsOf<A>,
  filename: string,
): RawResponse {
  requirePermission(action, { role: visit.company.role });
  return {
    content_type: "text/csv; charset=utf-8",
    body: "",
    body_from: { action, params },
    as: callerIn(visit),
    headers: { "content-disposition": `attachment; filename="${filename}"`, "cache-control": "no-store" },
  };
}

/** Throws 403 on a form page whose form the person may not send. */
export const requireMay = ({ company }: CompanyVisit, action: PermittedAction): void =>
  requirePermission(action, { role: company.role });

/** Returns whether the person may call the action, so that a page shows its button. */
export const may = ({ company }: CompanyVisit, action: PermittedAction): boolean =>
  isAtLeast(company.role, permissionOf(action)!.role);

export const companyPath = ({ company }: CompanyVisit, rest = ""): string => `/app/${company.id}${rest && `/${rest}`}`;
