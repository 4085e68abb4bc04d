/** Who makes a call: the gateway sets it from the credentials, and Moleculer passes it on with nested calls and events. */
import type { Context } from "moleculer";
import { forbidden } from "./errors.ts";

export type Role = "owner" | "admin" | "member";

export interface Caller {
  companyId?: string;
  userId?: string;
  role?: Role;
  /** Set when the credential is an API key. */
  apiKeyId?: string;
  requestId?: string;
  /** Set by the gateway on public routes: what a page or a tracking hit needs to know of the request. */
  http?: {
    method: string;
    ip: string;
    userAgent: string;
    accept: string;
    acceptLanguage: string;
    contentType: string;
    /** Over the tracking limit: a click still redirects, but is not counted. */
    overLimit?: boolean;
  };
}

export type Ctx<Params = unknown> = Context<Params, Caller> & { stream?: NodeJS.ReadableStream | null };

/** The tenant of this call. Every statement on a tenant's table names it. */
export function companyOf(ctx: { meta: Caller }): string {
  const { companyId } = ctx.meta;
  if (!companyId) throw forbidden();
  return companyId;
}
