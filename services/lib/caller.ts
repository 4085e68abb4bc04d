/**
 * Identifies the caller: the gateway sets it from the credentials, and Moleculer passes it on with nested calls and
 * events.
 */
import type { Context } from "moleculer";
import { type FieldErrors, forbidden, notFound } from "./errors.ts";
import type { Rights, Role, Scope } from "./rights.ts";

export type { Role };

/** A tracking request over the limit: a pixel is answered with 429, and a click redirects as always. */
export interface OverLimit {
  retryAfterSeconds: number;
  /** False if this address also exceeds the limit for this email. */
  isRecorded: boolean;
}

export interface Caller {
  companyId?: string;
  userId?: string;
  /** Login session that issued a person's token. */
  sessionId?: string;
  role?: Role;
  /** Set when the credential is an API key. */
  apiKeyId?: string;
  /** The key's scopes; a person has a role instead. */
  scopes?: readonly Scope[];
  /**
   * Session of an operator in the console. A caller with none of these ids is an operator at a terminal, or the service
   * itself.
   */
  operatorSessionId?: string;
  requestId?: string;
  /** Client address of a request within a company, for the audit log. */
  ip?: string;
  /** Errors of unknown fields and parameters, found by the gateway and reported with the action's own. */
  refused?: FieldErrors;
  /** Remaining time that the request may wait for concurrency limits (owner.ts). Undefined for work in the background. */
  waitLeftMs?: number;
  /**
   * Details of the request that a page, a tracking hit or a login needs; set by the gateway on public and personal
   * routes.
   */
  http?: {
    method: string;
    ip: string;
    userAgent: string;
    accept: string;
    acceptLanguage: string;
    contentType: string;
    /** Company of the tracking domain of this request; data of other companies must not be shown or changed. */
    hostOf?: string;
    /** Marks a browser that was signed in before; used at login. */
    device?: string;
    /** Set if an open or click exceeds the limit of its address. */
    overLimit?: OverLimit;
  };
}

export type Ctx<Params = unknown> = Context<Params, Caller> & { stream?: NodeJS.ReadableStream | null };

/**
 * The caller's rights as known by the gateway. A gateway of the previous release sends no scopes: its keys may do
 * everything.
 */
export const knownRights = ({ apiKeyId, scopes, role }: Caller): Rights =>
  apiKeyId ? { scopes: scopes ?? ["full"] } : { role };

/** The person of this call. */
export function userOf(ctx: { meta: Caller }): string {
  const { userId } = ctx.meta;
  if (!userId) throw forbidden();
  return userId;
}

/** Throws a 404 if the request used another company's tracking domain: pages are never shown under a foreign domain. */
export function requireOwnHost({ http }: Caller, companyId: string): void {
  if (http?.hostOf !== undefined && http.hostOf !== companyId) throw notFound();
}

/**
 * Tenant of this call. Every statement of an action on a tenant's table names it, except statements by an unguessable
 * id.
 */
export function companyOf(ctx: { meta: Caller }): string {
  const { companyId } = ctx.meta;
  if (!companyId) throw forbidden();
  return companyId;
}
