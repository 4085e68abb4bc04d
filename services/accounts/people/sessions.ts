/** Lists, checks and ends sessions, for people and for the gateway. */

import { broadcast } from "../../call.ts";
import type { ParamsOf, ReturnsOf } from "../../contracts.ts";
import { type Ctx, userOf } from "../../lib/caller.ts";
import { notFound, unauthenticated } from "../../lib/errors.ts";
import type { Role } from "../../lib/rights.ts";
import { type Person, passwordMarkOf, TOKEN_REFUSED } from "../../lib/tokens/bearer.ts";
import { hashOf, originOf } from "../tokens.ts";
import { endSessionOfToken, findMember, endSession as markEnded, noteUse, sessionsOf } from "./session-rows.ts";

async function requireGood({ userId, passwordMark, sessionId }: Person, companyId: string | null) {
  const found = await findMember(userId, sessionId ?? null, companyId);
  if (found && (!found.is_alive || passwordMarkOf(found.password_hash) !== passwordMark)) {
    throw unauthenticated(TOKEN_REFUSED);
  }
  return found;
}

export async function membershipOf({
  companyId,
  ...person
}: ParamsOf<"accounts.membershipOf">): Promise<{ role: Role }> {
  const found = await requireGood(person, companyId);
  if (!found?.role) throw notFound();
  return { role: found.role as Role };
}

export async function requireSession(person: ParamsOf<"accounts.requireSession">): Promise<null> {
  if (!(await requireGood(person, null))) throw unauthenticated(TOKEN_REFUSED);
  return null;
}

export async function continueSession(ctx: Ctx<ParamsOf<"accounts.continueSession">>): Promise<null> {
  const { userId, sessionId } = ctx.params;
  await requireSession(ctx.params);
  if (sessionId) await noteUse(userId, sessionId, originOf(ctx.meta));
  return null;
}

export async function listSessions(ctx: Ctx): Promise<ReturnsOf<"accounts.listSessions">> {
  const rows = await sessionsOf(userOf(ctx));
  return rows.map(({ id, began_at, last_used_at, ip, user_agent }) => ({
    id,
    created_at: began_at.toISOString(),
    last_used_at: last_used_at.toISOString(),
    ip,
    user_agent,
    current: id === ctx.meta.sessionId,
  }));
}

export async function endSession(ctx: Ctx<{ id: string }>): Promise<null> {
  const userId = userOf(ctx);
  if (!(await markEnded(userId, ctx.params.id))) throw notFound();
  await broadcast(ctx, "member.changed", { userId });
  return null;
}

/** Logs out. Gives the same answer for an invalid token. */
export async function logout(ctx: Ctx<{ refresh: string }>): Promise<null> {
  const userId = await endSessionOfToken(hashOf(ctx.params.refresh));
  if (userId) await broadcast(ctx, "member.changed", { userId });
  return null;
}
