/**
 * Reads and writes the DKIM keys of an SMTP configuration: at most one active key per algorithm, and one generated key
 * that waits for its record. The first active key is stored in the configuration's row, where nodes of the previous
 * release expect it; the others are in `dkim_keys`. Writers lock the configuration and read and write all its keys.
 */
import { Op, type Transaction } from "sequelize";
import { type DkimAlgorithm, DkimKey } from "../../../models/dkim-key.ts";
import type { SmtpConfig } from "../../../models/smtp-config.ts";
import { newId } from "../../lib/ids.ts";
import { seal, unseal } from "../../lib/secrets.ts";
import type { DkimView, MadeKey } from "../contract-dkim.ts";
import { publicKeyOf, recordName, recordValue } from "./record.ts";

export interface ConfigKey {
  /** Seal context of the private key. */
  id: string;
  domain: string;
  selector: string;
  sealed: Buffer;
  /** Text of the record to publish, for a generated key. */
  record: string | null;
  isActive: boolean;
}

type Named = Pick<ConfigKey, "domain" | "selector">;

export const isSameName = (a: Named, b: Named): boolean =>
  a.domain.toLowerCase() === b.domain.toLowerCase() && a.selector.toLowerCase() === b.selector.toLowerCase();

/** The key in the configuration's row first, then the other active ones. */
export async function keysOf(config: SmtpConfig, transaction: Transaction | null = null): Promise<ConfigKey[]> {
  const { companyId, id, dkimDomain: domain, dkimSelector: selector, dkimKeySealed: sealed, dkimRecord } = config;
  const first = domain && sealed ? [{ id, domain, selector: selector ?? "", sealed, record: dkimRecord }] : [];
  const order: [string, string][] = [
    ["active", "desc"],
    ["id", "asc"],
  ];
  const rows = await DkimKey.findAll({ where: { companyId, smtpConfigId: id }, order, transaction });
  return [
    ...first.map((key) => ({ ...key, record: key.record ?? null, isActive: true })),
    ...rows.map((row) => ({
      id: row.id,
      domain: row.domain,
      selector: row.selector,
      sealed: row.keySealed,
      record: row.record,
      isActive: row.active,
    })),
  ];
}

/** Throws if it was sealed with a SECRET_KEY that this process does not have. */
export const privateKeyOf = ({ sealed, id }: ConfigKey): string => unseal(sealed, id);

/** Undefined if the key is unreadable and therefore signs nothing. */
export function algorithmOf(key: ConfigKey): DkimAlgorithm | undefined {
  try {
    return publicKeyOf(privateKeyOf(key)).type;
  } catch {
    return undefined;
  }
}

/** `isOwn`: generated here, so it signs once its record is found. */
export function newKey({ domain, selector }: Named, privateKey: string, isOwn: boolean): ConfigKey {
  const id = newId();
  const record = isOwn ? recordValue(publicKeyOf(privateKey)) : null;
  return { id, domain, selector, sealed: seal(privateKey, id), record, isActive: !isOwn };
}

/** `config` is locked by the transaction. Deletes keys that are not among `keys`. */
export async function saveKeys(config: SmtpConfig, keys: ConfigKey[], transaction: Transaction): Promise<void> {
  const { companyId, id: smtpConfigId } = config;
  const active = keys.filter(({ isActive }) => isActive);
  const first = active.find(({ id }) => id === smtpConfigId) ?? active[0];
  const others = keys.filter((key) => key !== first);
  const ids = others.map(({ id }) => id);
  await DkimKey.destroy({ where: { companyId, smtpConfigId, id: { [Op.notIn]: ids } }, transaction });
  const stored = await DkimKey.findAll({ where: { companyId, smtpConfigId }, transaction });
  for (const key of others) {
    const { id, domain, selector, record, isActive } = key;
    const values = { domain, selector, record, active: isActive };
    const row = stored.find((one) => one.id === id);
    if (row) await row.update(values, { transaction });
    else {
      const { type: algorithm } = publicKeyOf(privateKeyOf(key));
      await DkimKey.create(
        { id, companyId, smtpConfigId, algorithm, keySealed: key.sealed, ...values },
        { transaction },
      );
    }
  }
  const sealed = first && (first.id === smtpConfigId ? first.sealed : seal(privateKeyOf(first), smtpConfigId));
  await config.update(
    {
      dkimDomain: first?.domain ?? null,
      dkimSelector: first?.selector ?? null,
      dkimKeySealed: sealed ?? null,
      dkimRecord: first?.record ?? null,
    },
    { transaction },
  );
}

/** Algorithm of a generated key, as written in its record. */
const algorithmIn = (record: string): DkimAlgorithm => (record.includes("k=ed25519;") ? "ed25519" : "rsa");

type VisibleKey = Omit<ConfigKey, "id" | "sealed">;

export const madeKeyView = ({ domain, selector, isActive }: VisibleKey, record: string): MadeKey => ({
  domain,
  selector,
  algorithm: algorithmIn(record),
  record: { name: recordName(domain, selector), value: record },
  active: isActive,
});

/** Active keys: an object if there is one, an array for two; and the waiting keys. */
export function dkimView(keys: readonly VisibleKey[]): { dkim: DkimView; dkim_waiting: MadeKey[] } {
  const shown = keys
    .filter(({ isActive }) => isActive)
    .map((key) =>
      key.record === null ? { domain: key.domain, selector: key.selector } : madeKeyView(key, key.record),
    );
  const waiting = keys.flatMap((key) => (key.isActive || key.record === null ? [] : madeKeyView(key, key.record)));
  return { dkim: shown.length > 1 ? shown : (shown[0] ?? null), dkim_waiting: waiting };
}
