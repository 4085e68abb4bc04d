/**
 * Writes the audit log in the transaction of the change it reports, so that neither exists without the other. Uses one
 * statement, which also looks up the actor's current name.
 */
import { QueryTypes, type Transaction } from "sequelize";
import type { AuditAction } from "../../services/lib/audit-actions.ts";
import type { Caller } from "../../services/lib/caller.ts";
import { newId } from "../../services/lib/ids.ts";
import { type Client, query, queryOne, sequelize, transaction } from "../database/db.ts";

export interface AuditedChange {
  action: AuditAction;
  /** Target: an id or an address. */
  target?: string | null;
  /** Details: names of changed fields, roles, counts; never a secret. */
  detail?: Record<string, unknown>;
}

const INSERT = `
  insert into audit_log (id, company_id, actor_type, actor_id, actor_name, action, target, ip, detail)
  select $1, $2, $3, $4::uuid, coalesce(
      case $3 when 'user' then (select email from users where id = $4)
        when 'api_key' then (select name from api_keys where company_id = $2 and id = $4) end, $3),
    $5, $6, $7, $8
  returning actor_type, actor_name`;

/** Actor of automatic changes. */
export const SYSTEM = "system";
type Actor = Caller | typeof SYSTEM;

const typeOf = ({ userId, apiKeyId }: Caller) => (apiKeyId ? "api_key" : userId ? "user" : "operator");

function valuesOf(companyId: string, actor: Actor, { action, target, detail }: AuditedChange) {
  const { userId, apiKeyId, operatorSessionId, ip, http }: Caller = actor === SYSTEM ? {} : actor;
  const type = actor === SYSTEM ? SYSTEM : typeOf(actor);
  const from = ip ?? http?.ip ?? null;
  return [
    newId(),
    companyId,
    type,
    apiKeyId ?? userId ?? operatorSessionId ?? null,
    action,
    target ?? null,
    from,
    JSON.stringify(detail ?? {}),
  ];
}

/** Records a change that is written through Sequelize. */
export async function audit(
  companyId: string,
  meta: Caller,
  audited: AuditedChange,
  transaction: Transaction | null = null,
): Promise<void> {
  await sequelize().query(INSERT, { bind: valuesOf(companyId, meta, audited), type: QueryTypes.RAW, transaction });
}

/** Actor as stored in the log. */
export interface LoggedActor {
  actor_type: "user" | "api_key" | "operator" | typeof SYSTEM;
  actor_name: string;
}

/** Records a change that is written as SQL. */
export async function auditWithin(
  client: Client,
  companyId: string,
  actor: Actor,
  audited: AuditedChange,
): Promise<LoggedActor> {
  return (await queryOne<LoggedActor>(INSERT, valuesOf(companyId, actor, audited), client))!;
}

/** Writes to every company of a user, because a login concerns all of them. */
export async function auditUser(userId: string, meta: Caller, action: AuditAction): Promise<void> {
  await query(
    `insert into audit_log (id, company_id, actor_type, actor_id, actor_name, action, target, ip)
     select uuid_v7(), m.company_id, 'user', u.id, u.email, $2, u.email, $3
     from memberships m join users u on u.id = m.user_id where u.id = $1`,
    [userId, action, meta.http?.ip ?? null],
  );
}

const EXPIRED_AT_ONCE = 5_000;
const EXPIRE = `
  delete from audit_log where id in (
    select id from audit_log where at < now() - make_interval(days => $1::int) order by at limit ${EXPIRED_AT_ONCE})`;

/**
 * Deletes old entries of all companies. The database permits a statement with this setting to delete entries of more
 * than 30 days, and nothing else.
 */
export async function expireAuditLog(days: number): Promise<void> {
  for (let deleted = EXPIRED_AT_ONCE; deleted === EXPIRED_AT_ONCE; ) {
    deleted = await transaction(async (client) => {
      await client.query("select set_config('flockmail.audit_log', 'expire', true)");
      return (await client.query(EXPIRE, [days])).rowCount ?? 0;
    });
  }
}
