/**
 * Opens the console for operators: a command prints a link that works once and for some minutes, and opens a session of
 * one hour. Grants nothing new, because an operator who may run commands may do everything that these pages do.
 */
import { createHash, randomBytes } from "node:crypto";
import type { ParamsOf, ReturnsOf } from "../contracts.ts";
import type { Ctx } from "../lib/caller.ts";
import { config } from "../lib/config.ts";
import { notFound, unauthenticated } from "../lib/errors.ts";
import { newId } from "../lib/ids.ts";
import type { OperatorSessionRow } from "./operator-sessions.ts";
import {
  beginSession as begin,
  continueSession as goOn,
  listSessions as list,
  endSession as markEnded,
  storeLink,
} from "./operator-sessions.ts";

const LINK_SECONDS = 5 * 60;
const SESSION_SECONDS = 60 * 60;
const MAX_USER_AGENT = 200;
const NOBODY = "operator";

const LINK_REFUSED = "This link was already used or is older than 5 minutes. Create a new one: ops console-link";
const SESSION_OVER = "This session has ended. Create a new link: ops console-link";

const hashOf = (token: string): Buffer => createHash("sha256").update(token).digest();

export async function consoleLink(ctx: Ctx<ParamsOf<"operator.consoleLink">>) {
  const name = ctx.params.name?.trim() || NOBODY;
  const token = randomBytes(32).toString("base64url");
  const id = newId();
  const until = await storeLink({ id, hash: hashOf(token), name, goodSeconds: LINK_SECONDS }, config().AUDIT_LOG_DAYS);
  ctx.broker.logger.info({ session: id, operator: name }, "Operator console link created");
  return [{ url: `${config().BASE_URL}/app/operator/sign-in?token=${token}`, good_until: until.toISOString() }];
}

type Session = ReturnsOf<"operator.beginSession">;

const view = ({ id, name, expires_at }: { id: string; name: string; expires_at: Date }): Session => ({
  id,
  name,
  expires_at: expires_at.toISOString(),
});

export async function beginSession(ctx: Ctx<ParamsOf<"operator.beginSession">>): Promise<Session> {
  const { http } = ctx.meta;
  const from = { ip: http?.ip ?? null, userAgent: http?.userAgent.slice(0, MAX_USER_AGENT) ?? null };
  const session = await begin(hashOf(ctx.params.token), SESSION_SECONDS, from);
  if (!session) throw unauthenticated(LINK_REFUSED);
  const { id, name } = session;
  ctx.broker.logger.info({ session: id, operator: name, ip: from.ip }, "Operator signed in to the console");
  return view(session);
}

export async function continueSession({ id }: ParamsOf<"operator.continueSession">): Promise<Session> {
  const session = await goOn(id);
  if (!session) throw unauthenticated(SESSION_OVER);
  return view(session);
}

export async function endSession(ctx: Ctx<ParamsOf<"operator.endSession">>): Promise<ReturnsOf<"operator.endSession">> {
  const { session_id } = ctx.params;
  if (!(await markEnded(session_id))) throw notFound();
  ctx.broker.logger.info({ session: session_id }, "Operator console session ended");
  return [{ session_id, state: "ended" }];
}

function stateOf({ ended_at, began_at, expires_at, link_until }: OperatorSessionRow): string {
  const now = Date.now();
  if (ended_at) return "ended";
  if (began_at) return expires_at!.getTime() > now ? "open" : "over";
  return link_until.getTime() > now ? "link not used yet" : "link not used";
}

export async function listSessions(): Promise<ReturnsOf<"operator.consoleSessions">> {
  return (await list()).map((row) => ({
    session_id: row.id,
    name: row.name,
    state: stateOf(row),
    made_at: row.made_at.toISOString(),
    began_at: row.began_at?.toISOString() ?? null,
    last_used_at: row.last_used_at?.toISOString() ?? null,
    expires_at: row.expires_at?.toISOString() ?? null,
    ended_at: row.ended_at?.toISOString() ?? null,
    ip: row.ip,
    user_agent: row.user_agent,
  }));
}
