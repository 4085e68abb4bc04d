/**
 * Activates generated DKIM keys once their DNS records are found: one node looks each up twice per minute, and so does
 * the deliverability report. Until then the configuration's active key of the same algorithm signs; it is then deleted,
 * and removing its record is up to the owner.
 */
import { sequelize } from "../../../models/database/db.ts";
import { SmtpConfig } from "../../../models/smtp-config.ts";
import { configuredLookups, type Lookups } from "../../lib/dns-lookups.ts";
import type { Check } from "../deliverability/check.ts";
import { checkDkim } from "../deliverability/dkim-key.ts";
import { claimWaitingKeys, type WaitingKey } from "./dkim-keys.ts";
import { algorithmOf, type ConfigKey, keysOf, privateKeyOf, saveKeys } from "./key-set.ts";

/** Time of one look-up including its retry. */
const LOOKUP_MS = 3_000;
/** Number of keys looked up at the same time. */
const KEYS_AT_ONCE = 50;

/** True if the published key is this one, whatever else is wrong with the record. */
export const isSeen = ({ status }: Check): boolean => status === "pass" || status === "warn";

/** True if an active key is replaced by these. An unreadable key signs nothing and is replaced, too. */
export function isReplacedBy(seen: readonly ConfigKey[]): (key: ConfigKey) => boolean {
  const free = seen.length > 0 ? [undefined, ...seen.map(algorithmOf)] : [];
  return (key) => key.isActive && free.includes(algorithmOf(key));
}

/** A new key takes the position of the one it replaces, also in responses. */
function withActive(keys: readonly ConfigKey[], seen: readonly ConfigKey[]): ConfigKey[] {
  const isReplaced = isReplacedBy(seen);
  const replacement = (key: ConfigKey) => seen.find((one) => algorithmOf(one) === algorithmOf(key)) ?? [];
  const remainingKeys = keys
    .filter((key) => !seen.includes(key))
    .flatMap((key) => (isReplaced(key) ? replacement(key) : key));
  const all = new Set([...remainingKeys, ...seen]);
  return [...all].map((key) => (seen.includes(key) ? { ...key, isActive: true } : key));
}

/**
 * Configuration's change times before and after. Undefined: the keys have been deleted since, or are active already.
 */
export async function activate(
  companyId: string,
  smtpConfigId: string,
  keyIds: readonly string[],
): Promise<{ before: Date; after: Date } | undefined> {
  return sequelize().transaction(async (transaction) => {
    const lock = transaction.LOCK.UPDATE;
    const config = await SmtpConfig.findOne({ where: { companyId, id: smtpConfigId }, transaction, lock });
    if (!config) return undefined;
    const keys = await keysOf(config, transaction);
    const publishedKeys = keys.filter(({ id, isActive }) => !isActive && keyIds.includes(id));
    if (publishedKeys.length === 0) return undefined;
    const before = config.updatedAt;
    // Another key signs from now on: the email is checked again before the next send.
    config.changed("updatedAt", true);
    await config.update({ checkedAt: null }, { transaction });
    await saveKeys(config, withActive(keys, publishedKeys), transaction);
    return { before, after: config.updatedAt };
  });
}

async function hasRecord(dns: Lookups, { id, company_id: companyId, smtp_config_id: configId }: WaitingKey) {
  const config = await SmtpConfig.findOne({ where: { companyId, id: configId } });
  const key = config && (await keysOf(config)).find((one) => one.id === id);
  if (!key) return false;
  const { domain, selector } = key;
  return isSeen(await checkDkim(dns, { domain, selector, privateKey: privateKeyOf(key) }));
}

export interface Watch {
  /** Called when a configuration's signing keys change. */
  activated(smtpConfigId: string): Promise<unknown>;
  failed(key: WaitingKey, error: Error): void;
}

export async function checkRecords({ activated, failed }: Watch): Promise<void> {
  for (;;) {
    const keys = await claimWaitingKeys(KEYS_AT_ONCE);
    if (keys.length === 0) return;
    const dns = await configuredLookups(LOOKUP_MS);
    const look = async (key: WaitingKey) => {
      if (!(await hasRecord(dns, key))) return;
      const { company_id: companyId, smtp_config_id: configId, id } = key;
      if (await activate(companyId, configId, [id])) await activated(configId);
    };
    try {
      await Promise.all(keys.map((key) => look(key).catch((error: Error) => failed(key, error))));
    } finally {
      dns.close();
    }
    if (keys.length < KEYS_AT_ONCE) return;
  }
}
