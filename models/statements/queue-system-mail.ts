/** System mail is a row, written in the transaction of what it reports; without SYSTEM_SMTP_URL there is none. */
import type { Transaction } from "sequelize";
import { config } from "../../services/lib/config.ts";
import type { SystemMailData, SystemMailKind } from "../../services/lib/system-mail-kinds.ts";
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

/** Beyond this many nobody reads it anyway. */
const MAX_OWNERS = 20;

/** A notice to everybody who owns the company. */
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
