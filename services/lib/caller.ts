/** Who makes a call: the gateway sets it from the credentials, and Moleculer passes it on with nested calls and events. */
import type { Context } from "moleculer";
import { type FieldErrors, forbidden, notFound } from "./errors.ts";
import type { Rights, Role, Scope } from "./rights.ts";

export type { Role };

/** The pixel is then answered with 429, and a click redirects as always. */
export interface OverLimit {
  retryAfterSeconds: number;
  /** False where this address has passed the limit on this one mail, too. */
  isRecorded: boolean;
}

export interface Caller {
  companyId?: string;
  userId?: string;
  /** The login that a person's token came from. */
  sessionId?: string;
  role?: Role;
  /** Set when the credential is an API key. */
  apiKeyId?: string;
  /** What that key is for; a person has a role instead. */
  scopes?: readonly Scope[];
  /** Of an operator who came by the console: whoever has none of these is an operator at a terminal, or the service. */
  operatorSessionId?: string;
  requestId?: string;
  /** Address that a request within a company came from: for the audit log. */
  ip?: string;
  /** Errors of fields and parameters that no action reads: found by the gateway, reported with the action's own. */
  refused?: FieldErrors;
  /** Remaining time that the request may wait for concurrency limits (owner.ts). Undefined for work in the background. */
  waitLeftMs?: number;
  /** Set by the gateway on public and personal routes: what a page, a tracking hit or a login needs to know of the request. */
  http?: {
    method: string;
    ip: string;
    userAgent: string;
    accept: string;
    acceptLanguage: string;
    contentType: string;
    /** On a company's tracking domain: that company, and nothing of any other may be shown or changed there. */
    hostOf?: string;
    /** At login: the mark of a browser that was logged in before. */
    device?: string;
    /** Set where an open or a click is over the limit of its address. */
    overLimit?: OverLimit;
  };
}

export type Ctx<Params = unknown> = Context<Params, Caller> & { stream?: NodeJS.ReadableStream | null };

/** What the gateway knows of the caller's rights. One of the release before sends no scopes: its keys may do everything. */
export const knownRights = ({ apiKeyId, scopes, role }: Caller): Rights =>
  apiKeyId ? { scopes: scopes ?? ["full"] } : { role };

/** The person of this call. */
export function userOf(ctx: { meta: Caller }): string {
  const { userId } = ctx.meta;
  if (!userId) throw forbidden();
  return userId;
}

/** Throws a 404 where the request came to another company's tracking domain: nobody's pages stand under somebody else's name. */
export function requireOwnHost({ http }: Caller, companyId: string): void {
  if (http?.hostOf !== undefined && http.hostOf !== companyId) throw notFound();
}

/** The tenant of this call. Every statement of an action on a tenant's table names it, but for those by an id that nobody can guess. */
export function companyOf(ctx: { meta: Caller }): string {
  const { companyId } = ctx.meta;
  if (!companyId) throw forbidden();
  return companyId;
}
