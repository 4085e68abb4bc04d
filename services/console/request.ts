/** A request as pages see it: who asks, in which company, for what; and what they answer. */
import type { CallingOptions } from "moleculer";
import { call } from "../call.ts";
import type { ActionOf, ParamsOf, ReturnsOf } from "../contracts.ts";
import type { Caller, Ctx } from "../lib/caller.ts";
import { isAtLeast, type Role } from "../lib/rights.ts";
import type { Document } from "../lib/shapes.ts";
import type { ConsoleSession } from "../lib/tokens/console-session.ts";
import { type PermittedAction, permissionOf, requirePermission } from "../permissions.ts";

export interface Company {
  id: string;
  name: string;
  role: Role;
}

export interface User {
  id: string;
  email: string;
  first_name: string;
}

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

/** What a page answers: values for its view, or where to go. */
export type Answer =
  | { view: string; title: string; values?: Record<string, unknown>; status?: number }
  | { goTo: string }
  | Document;

/** `session`: the browser has another one from now on. */
export type Outcome = { answer: Answer; session?: ConsoleSession };

const metaOf = ({ ctx, session }: Visit): Caller => ({
  ...(ctx.meta.requestId ? { requestId: ctx.meta.requestId } : {}),
  ...(ctx.meta.http ? { http: ctx.meta.http, ip: ctx.meta.http.ip } : {}),
  ...(session.person ? { userId: session.person.userId, sessionId: session.id } : {}),
});

const withMeta = (meta: Caller): CallingOptions & { meta: Caller } => ({ meta });

/** An action that is about the person, or about nobody. */
export const callAs = <A extends ActionOf>(visit: Visit, action: A, params: ParamsOf<A>): Promise<ReturnsOf<A>> =>
  call(visit.ctx.broker, action, params, withMeta(metaOf(visit)));

/** An action of the API within the company, under the same rules: 403 where the role is not enough. */
export function callIn<A extends PermittedAction & ActionOf>(
  visit: CompanyVisit,
  action: A,
  params: ParamsOf<A>,
): Promise<ReturnsOf<A>> {
  const { id: companyId, role } = visit.company;
  requirePermission(action, { role });
  return call(visit.ctx.broker, action, params, withMeta({ ...metaOf(visit), companyId, role }));
}

/** Whether a page shows the button. */
export const may = ({ company }: CompanyVisit, action: PermittedAction): boolean =>
  isAtLeast(company.role, permissionOf(action)!.role);

export const companyPath = ({ company }: CompanyVisit, rest = ""): string => `/app/${company.id}${rest && `/${rest}`}`;
