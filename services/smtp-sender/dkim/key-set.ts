/**
 * The DKIM keys of an SMTP configuration: of each algorithm one that signs at most, and one that was made here and
 * waits for its record. The first that signs stands in the configuration's own row, because nodes of the release before
 * look for it there; the others in `dkim_keys`. Whoever changes them reads all, and writes all, while the configuration
 * is locked.
 */
import { Op, type Transaction } from "sequelize";
import { type DkimAlgorithm, DkimKey } from "../../../models/dkim-key.ts";
import type { SmtpConfig } from "../../../models/smtp-config.ts";
import { newId } from "../../lib/ids.ts";
import { seal, unseal } from "../../lib/secrets.ts";
import type { DkimView, MadeKey } from "../contract-dkim.ts";
import { publicKeyOf, recordName, recordValue } from "./record.ts";

export interface ConfigKey {
  /** What the private key is sealed to. */
  id: string;
  domain: string;
  selector: string;
  sealed: Buffer;
  /** Of a key that was made here: the text of the record to publish. */
  record: string | null;
  isActive: boolean;
}

type Named = Pick<ConfigKey, "domain" | "selector">;

export const isSameName = (a: Named, b: Named): boolean =>
  a.domain.toLowerCase() === b.domain.toLowerCase() && a.selector.toLowerCase() === b.selector.toLowerCase();

/** That of the configuration's row first, then those that sign. */
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

/** Throws where it was sealed with a SECRET_KEY that this process does not have. */
export const privateKeyOf = ({ sealed, id }: ConfigKey): string => unseal(sealed, id);

/** Undefined: it cannot be read any more, and signs nothing. */
export function algorithmOf(key: ConfigKey): DkimAlgorithm | undefined {
  try {
    return publicKeyOf(privateKeyOf(key)).type;
  } catch {
    return undefined;
  }
}

/** `isOwn`: made here, so it signs once its record is seen. */
export function newKey({ domain, selector }: Named, privateKey: string, isOwn: boolean): ConfigKey {
  const id = newId();
  const record = isOwn ? recordValue(publicKeyOf(privateKey)) : null;
  return { id, domain, selector, sealed: seal(privateKey, id), record, isActive: !isOwn };
}

/** `config` is locked by the transaction. What is not among `keys` is deleted. */
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
  const own = first && (first.id === smtpConfigId ? first.sealed : seal(privateKeyOf(first), smtpConfigId));
  await config.update(
    {
      dkimDomain: first?.domain ?? null,
      dkimSelector: first?.selector ?? null,
      dkimKeySealed: own ?? null,
      dkimRecord: first?.record ?? null,
    },
    { transaction },
  );
}

/** What stands in `record` of a key that was made here says its algorithm. */
const algorithmIn = (record: string): DkimAlgorithm => (record.includes("k=ed25519;") ? "ed25519" : "rsa");

type Shown = Omit<ConfigKey, "id" | "sealed">;

export const madeKeyView = ({ domain, selector, isActive }: Shown, record: string): MadeKey => ({
  domain,
  selector,
  algorithm: algorithmIn(record),
  record: { name: recordName(domain, selector), value: record },
  active: isActive,
});

/** Those that sign: one as an object, two as an array; and those that wait. */
export function dkimView(keys: readonly Shown[]): { dkim: DkimView; dkim_waiting: MadeKey[] } {
  const shown = keys
    .filter(({ isActive }) => isActive)
    .map((key) =>
      key.record === null ? { domain: key.domain, selector: key.selector } : madeKeyView(key, key.record),
    );
  const waiting = keys.flatMap((key) => (key.isActive || key.record === null ? [] : madeKeyView(key, key.record)));
  return { dkim: shown.length > 1 ? shown : (shown[0] ?? null), dkim_waiting: waiting };
}
