/** The SMTP configurations of a company. Secrets go in and never come out. */
import type { Transaction } from "sequelize";
import { sequelize } from "../../../models/database/db.ts";
import { listPage } from "../../../models/database/listing.ts";
import { SmtpConfig } from "../../../models/smtp-config.ts";
import { asciiDomain } from "../../lib/address.ts";
import { notFound } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { seal } from "../../lib/secrets.ts";
import type { ListQuery } from "../../lib/shapes.ts";
import type { ConfigPatch, NewConfig, SmtpConfig as View } from "../contract-configs.ts";

const COLUMNS = `id, name, host, port, use_tls, tls_mode, sender_name, sender_email, reply_to_email,
  case when dkim_domain is not null then json_build_object('domain', dkim_domain, 'selector', dkim_selector) end as dkim,
  max_connections, max_per_second, is_default, failing_since is null as working, last_error, last_error_at,
  case when failing_since is not null then backoff_until end as backing_off_until, created_at`;

type Times = "last_error_at" | "backing_off_until" | "created_at";
type ConfigRow = Omit<View, Times> & { last_error_at: Date | null; backing_off_until: Date | null; created_at: Date };

export async function listConfigs(
  companyId: string,
  listQuery: ListQuery,
): Promise<{ count: number; results: View[] }> {
  const page = await listPage<ConfigRow>(
    {
      from: "smtp_configs",
      columns: COLUMNS,
      where: ["company_id = $1"],
      values: [companyId],
      id: "id",
      orderings: { name: "name", host: "host", sender_email: "sender_email" },
      searchIn: ["name", "host", "sender_email"],
    },
    listQuery,
  );
  const results = page.results.map((row) => ({
    ...row,
    last_error_at: row.last_error_at?.toISOString() ?? null,
    backing_off_until: row.backing_off_until?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
  }));
  return { ...page, results };
}

export async function findConfig(companyId: string, id: string, lock?: Transaction): Promise<SmtpConfig> {
  const found = await SmtpConfig.findOne({ where: { id, companyId }, transaction: lock, lock: lock?.LOCK.UPDATE });
  if (!found) throw notFound();
  return found;
}

export async function hasDkimKey(companyId: string, id: string): Promise<boolean> {
  const found = await SmtpConfig.findOne({ where: { id, companyId }, attributes: ["dkimKeySealed"] });
  return found?.dkimKeySealed != null;
}

function dkimColumns(dkim: NewConfig["dkim"], id: string) {
  if (dkim === undefined) return {};
  if (dkim === null) return { dkimDomain: null, dkimSelector: null, dkimKeySealed: null };
  return {
    dkimDomain: asciiDomain(dkim.domain),
    dkimSelector: dkim.selector.toLowerCase(),
    ...(dkim.private_key === undefined ? {} : { dkimKeySealed: seal(dkim.private_key, id) }),
  };
}

/** Only what was given: what is missing keeps its value, or gets the column's default. */
function columns(given: Partial<NewConfig>, id: string) {
  const wanted = {
    name: given.name?.trim(),
    host: given.host?.trim(),
    port: given.port,
    username: given.username,
    passwordSealed: given.password === undefined ? undefined : seal(given.password, id),
    useTls: given.use_tls,
    tlsMode: given.tls_mode,
    senderName: given.sender_name,
    senderEmail: given.sender_email?.trim(),
    replyToEmail: given.reply_to_email?.trim() ?? given.reply_to_email,
    maxConnections: given.max_connections,
    maxPerSecond: given.max_per_second,
    isDefault: given.is_default,
  };
  const present = Object.entries(wanted).filter(([, value]) => value !== undefined);
  return { ...(Object.fromEntries(present) as Partial<typeof wanted>), ...dkimColumns(given.dkim, id) };
}

/** One default per company: the new one takes the place of the old one in the same transaction. */
async function unsetDefault(companyId: string, transaction: Transaction): Promise<void> {
  // Of two requests at once neither sees the other's row, and the second would be refused by the unique index.
  await sequelize().query("select from companies where id = $1 for no key update", { bind: [companyId], transaction });
  await SmtpConfig.update({ isDefault: false }, { where: { companyId, isDefault: true }, transaction });
}

export async function createConfig(companyId: string, given: NewConfig): Promise<View> {
  const id = newId();
  return sequelize().transaction(async (transaction) => {
    if (given.is_default) await unsetDefault(companyId, transaction);
    const values = columns(given, id) as Required<
      Pick<SmtpConfig, "name" | "host" | "port" | "username" | "senderEmail">
    >;
    const created = await SmtpConfig.create({ passwordSealed: null, ...values, id, companyId }, { transaction });
    return created.view();
  });
}

/** What was learnt of the server says nothing about another one, or another way to it: it is tried at once. */
const FORGOTTEN = {
  failingSince: null,
  backoffUntil: null,
  backoffCount: 0,
  lastError: null,
  lastErrorAt: null,
  workedAt: null,
};
const OF_THE_SERVER = ["host", "port", "username", "password", "use_tls", "tls_mode"] as const;

export async function updateConfig(companyId: string, { id, ...given }: ConfigPatch): Promise<View> {
  return sequelize().transaction(async (transaction) => {
    if (given.is_default) await unsetDefault(companyId, transaction);
    const found = await findConfig(companyId, id, transaction);
    const forgotten = OF_THE_SERVER.some((field) => given[field] !== undefined) ? FORGOTTEN : {};
    await found.update({ ...columns(given, id), ...forgotten }, { transaction });
    return found.view();
  });
}

/** Campaigns that still send through it fail what is left: their transport finds it gone (transport/smtp-transports.ts). */
export async function removeConfig(companyId: string, id: string): Promise<void> {
  await sequelize().transaction(async (transaction) => {
    const found = await findConfig(companyId, id, transaction);
    await sequelize().query(
      "update companies set default_smtp_config_id = null where id = $1 and default_smtp_config_id = $2",
      { bind: [companyId, id], transaction },
    );
    await found.destroy({ transaction });
  });
}
