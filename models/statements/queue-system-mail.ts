/**
 * Queues system mail as a row, in the transaction of the event that it reports; without SYSTEM_SMTP_URL there is no
 * system mail.
 */
import type { Transaction } from "sequelize";
import { config } from "../../services/lib/config.ts";
import type { SystemMailData, SystemMailKind } from "../../services/lib/system-mail-kinds.ts";
import { type Client, query } from "../database/db.ts";
import { Membership } from "../membership.ts";
import { SystemMail } from "../system-mail.ts";

export const sendsSystemMail = (): boolean => config().SYSTEM_SMTP_URL !== undefined;

export async function queueSystemMail<K extends SystemMailKind>(
  kind: K,
  recipient: string,
  data: SystemMailData[K],
  transaction: Transaction | null = null,
): Promise<void> {
  if (!sendsSystemMail()) return;
  await SystemMail.create({ kind, recipient, data: { ...data }, nextAttemptAt: new Date() }, { transaction });
}

/** Maximum number of owners to notify. */
const MAX_OWNERS = 20;

/** Queues a notice to all owners of the company. */
export async function noticeToOwners<K extends SystemMailKind>(
  companyId: string,
  kind: K,
  data: SystemMailData[K],
  transaction: Transaction,
): Promise<void> {
  if (!sendsSystemMail()) return;
  const where = { companyId, role: "owner" as const };
  const owners = await Membership.findAll({ where, include: "user", limit: MAX_OWNERS, transaction });
  for (const { user } of owners) await queueSystemMail(kind, user!.email, data, transaction);
}

const NOTICE = `
  insert into system_mails (id, kind, recipient, data, next_attempt_at)
  select uuid_v7(), $2, u.email, $3, now()
  from memberships m join users u on u.id = m.user_id
  where m.company_id = $1 and m.role = 'owner' limit ${MAX_OWNERS}`;

/** Does the same for changes that are written as SQL. */
export async function noticeToOwnersWithin<K extends SystemMailKind>(
  client: Client,
  companyId: string,
  kind: K,
  data: SystemMailData[K],
): Promise<void> {
  if (sendsSystemMail()) await query(NOTICE, [companyId, kind, JSON.stringify(data)], client);
}
