/** Manages a company's SMTP configurations. Secrets are write-only. */

import type { Transaction } from "sequelize";
import { Company } from "../../../models/company.ts";
import { sequelize } from "../../../models/database/db.ts";
import { listPage, type Page } from "../../../models/database/listing.ts";
import { SmtpConfig } from "../../../models/smtp-config.ts";
import { audit } from "../../../models/statements/audit-log.ts";
import { currentRights } from "../../../models/statements/current-rights.ts";
import { noticeToOwners, sendsSystemMail } from "../../../models/statements/queue-system-mail.ts";
import { User } from "../../../models/user.ts";
import type { Warmup } from "../../../models/warmup-ledger.ts";
import { addressText } from "../../lib/address.ts";
import { type Caller, type Ctx, companyOf } from "../../lib/caller.ts";
import { type FieldErrors, invalid, notFound } from "../../lib/errors.ts";
import { newId } from "../../lib/ids.ts";
import { seal, unseal } from "../../lib/secrets.ts";
import type { ListQuery } from "../../lib/shapes.ts";
import { type PermittedAction, requirePermission } from "../../permissions.ts";
import type { ConfigPatch, NewConfig, SmtpConfig as View } from "../contract-configs.ts";
import { dkimErrors, keysFrom } from "../dkim/given-keys.ts";
import { dkimView, keysOf, saveKeys } from "../dkim/key-set.ts";
import { warmupChanged } from "../limits/warmup-ledger.ts";
import { mailboxErrors, mailboxOf, saveMailbox } from "./bounce-mailbox.ts";
import { configErrors, passwordError } from "./config-errors.ts";
import { storedLimits } from "./domain-limits.ts";

const COLUMNS = `id, name, host, port, use_tls, tls_mode, sender_name, sender_email, reply_to_email, bounce_address,
  (select json_build_object('host', b.host, 'port', b.port, 'username', b.username, 'use_tls', b.use_tls, 'folder', b.folder,
    'processed_folder', b.processed_folder, 'last_error', b.last_error, 'last_error_at', to_char(b.last_error_at
      at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
   from bounce_mailboxes b where b.company_id = smtp_configs.company_id and b.id = smtp_configs.id) as bounce_mailbox,
  dkim_domain, dkim_selector, dkim_record,
  (select json_agg(json_build_object('domain', k.domain, 'selector', k.selector, 'record', k.record, 'isActive', k.active)
     order by k.active desc, k.id)
   from dkim_keys k where k.company_id = smtp_configs.company_id and k.smtp_config_id = smtp_configs.id) as dkim_keys,
  max_connections, max_per_second, warmup, domain_limits, is_default, failing_since is null as working, last_error, last_error_at,
  case when failing_since is not null then backoff_until end as backing_off_until,
  checked_at, case when checked_at is null then '[]' else check_failures end as check_failures, created_at`;

type Times = "last_error_at" | "backing_off_until" | "checked_at" | "created_at";
type ShownKeys = Parameters<typeof dkimView>[0];
type ConfigRow = Omit<View, Times | "dkim" | "dkim_waiting"> & {
  last_error_at: Date | null;
  backing_off_until: Date | null;
  checked_at: Date | null;
  created_at: Date;
  dkim_domain: string | null;
  dkim_selector: string | null;
  dkim_record: string | null;
  dkim_keys: ShownKeys | null;
};

export async function listConfigs(companyId: string, listQuery: ListQuery): Promise<Page<View>> {
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
  const results = page.results.map(({ dkim_domain, dkim_selector, dkim_record, dkim_keys, ...row }) => ({
    ...row,
    ...dkimView([
      ...(dkim_domain === null
        ? []
        : [{ domain: dkim_domain, selector: dkim_selector ?? "", record: dkim_record, isActive: true }]),
      ...(dkim_keys ?? []),
    ]),
    last_error_at: row.last_error_at?.toISOString() ?? null,
    backing_off_until: row.backing_off_until?.toISOString() ?? null,
    checked_at: row.checked_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
  }));
  return { ...page, results };
}

export const viewOf = async (config: SmtpConfig, transaction: Transaction | null = null): Promise<View> =>
  config.view(await mailboxOf(config.companyId, config.id, transaction), dkimView(await keysOf(config, transaction)));

export async function findConfig(companyId: string, id: string, lock?: Transaction): Promise<SmtpConfig> {
  const found = await SmtpConfig.findOne({ where: { id, companyId }, transaction: lock, lock: lock?.LOCK.UPDATE });
  if (!found) throw notFound();
  return found;
}

export async function idsOfConfigs(companyId: string): Promise<string[]> {
  const found = await SmtpConfig.findAll({ where: { companyId }, attributes: ["id"] });
  return found.map(({ id }) => id);
}

/** Other keys of the request are ignored. */
const warmupOf = ({ start_per_day, factor, until_per_day }: Warmup): Warmup => ({
  start_per_day,
  factor,
  until_per_day,
});

/** Contains only the given fields: missing ones keep their value or get the column's default. */
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
    senderEmail: given.sender_email && addressText(given.sender_email),
    replyToEmail: given.reply_to_email && addressText(given.reply_to_email),
    bounceAddress: given.bounce_address && addressText(given.bounce_address),
    maxConnections: given.max_connections,
    maxPerSecond: given.max_per_second,
    warmup: given.warmup && warmupOf(given.warmup),
    domainLimits: given.domain_limits === undefined ? undefined : storedLimits(given.domain_limits),
    isDefault: given.is_default,
  };
  const present = Object.entries(wanted).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as Partial<typeof wanted>;
}

/** Reads the caller's current rights and locks the company, so that its configurations are written one at a time. */
export async function requireRightsNow(meta: Caller, action: PermittedAction, transaction: Transaction): Promise<void> {
  const bind = [meta.companyId];
  await sequelize().query("select from companies where id = $1 for no key update", { bind, transaction });
  requirePermission(action, await currentRights(meta, transaction));
}

/**
 * Unsets the company's current default, because there is only one: a new default replaces it in the same transaction.
 */
async function unsetDefault(companyId: string, transaction: Transaction): Promise<void> {
  await SmtpConfig.update({ isDefault: false }, { where: { companyId, isDefault: true }, transaction });
}

export async function createConfig(ctx: Ctx<NewConfig>): Promise<View> {
  const companyId = companyOf(ctx);
  const { params: given } = ctx;
  const id = newId();
  return sequelize().transaction(async (transaction) => {
    await requireRightsNow(ctx.meta, "smtp-sender.createConfig", transaction);
    if (given.is_default) await unsetDefault(companyId, transaction);
    const values = columns(given, id) as Required<
      Pick<SmtpConfig, "name" | "host" | "port" | "username" | "senderEmail">
    >;
    const created = await SmtpConfig.create({ passwordSealed: null, ...values, id, companyId }, { transaction });
    if (given.dkim) await saveKeys(created, keysFrom(given.dkim, []), transaction);
    await saveMailbox(created, given.bounce_mailbox, transaction);
    const detail = { name: created.name, host: created.host };
    await audit(companyId, ctx.meta, { action: "smtp_config.created", target: id, detail }, transaction);
    return viewOf(created, transaction);
  });
}

/** Resets what is known about the server: another server, or other connection settings, is tried at once. */
const RESET_STATE = {
  failingSince: null,
  backoffUntil: null,
  backoffCount: 0,
  lastError: null,
  lastErrorAt: null,
  workedAt: null,
};
/** True also for a relay without login. An unreadable password counts as present. */
function hasPassword({ id, passwordSealed }: SmtpConfig): boolean {
  if (passwordSealed === null) return false;
  try {
    return unseal(passwordSealed, id) !== "";
  } catch {
    return true;
  }
}

function changeErrors(stored: SmtpConfig, given: Partial<NewConfig>): FieldErrors {
  if (given.password !== undefined || !hasPassword(stored)) return {};
  const { host, port, username, use_tls: useTls, tls_mode: tlsMode } = given;
  const target = { host: host?.trim(), port, username, useTls, tlsMode };
  const changes = Object.entries(target).filter(([, value]) => value !== undefined);
  return passwordError(stored, Object.fromEntries(changes));
}

async function errorsOfMailbox(
  { companyId, id }: { companyId: string; id: string },
  given: NewConfig["bounce_mailbox"],
  transaction: Transaction | null = null,
): Promise<FieldErrors> {
  const errors = given ? await mailboxErrors(given, await mailboxOf(companyId, id, transaction)) : [];
  return errors.length > 0 ? { bounce_mailbox: errors } : {};
}

async function errorsOfDkim(
  config: SmtpConfig,
  given: NewConfig["dkim"],
  transaction: Transaction | null = null,
): Promise<FieldErrors> {
  const errors = given ? dkimErrors(given, await keysOf(config, transaction)) : [];
  return errors.length > 0 ? { dkim: errors } : {};
}

/** Errors beyond the schema's. */
export async function newConfigErrors(
  { params }: Ctx<NewConfig>,
  isValid: (field: keyof NewConfig) => boolean,
): Promise<FieldErrors> {
  const errors = await configErrors(params, isValid);
  const { bounce_mailbox: mailbox, dkim } = params;
  const ofDkim = dkim && isValid("dkim") ? dkimErrors(dkim, []) : [];
  if (ofDkim.length > 0) errors.dkim = ofDkim;
  const found = mailbox && isValid("bounce_mailbox") ? await mailboxErrors(mailbox, null) : [];
  return found.length > 0 ? { ...errors, bounce_mailbox: found } : errors;
}

/** Collects the errors of a change, including missing objects; the transaction that writes checks again. */
export async function patchErrors(
  ctx: Ctx<ConfigPatch>,
  isValid: (field: keyof ConfigPatch) => boolean,
): Promise<FieldErrors> {
  const companyId = companyOf(ctx);
  const { id, ...given } = ctx.params;
  const errors = await configErrors(ctx.params, isValid);
  const stored = await SmtpConfig.findOne({ where: { id, companyId } });
  if (!stored) return errors;
  if (isValid("bounce_mailbox")) Object.assign(errors, await errorsOfMailbox(stored, given.bounce_mailbox));
  if (isValid("dkim")) Object.assign(errors, await errorsOfDkim(stored, given.dkim));
  const { host, port, username, use_tls, tls_mode, password } = given;
  const readable = Object.entries({ host, port, username, use_tls, tls_mode, password }).filter(
    ([field, value]) => value !== undefined && isValid(field as keyof ConfigPatch),
  );
  // The schema already reports an invalid password.
  return password === undefined || isValid("password")
    ? { ...errors, ...changeErrors(stored, Object.fromEntries(readable)) }
    : errors;
}

const SERVER_FIELDS = ["host", "port", "username", "password", "use_tls", "tls_mode"] as const;

export async function updateConfig(ctx: Ctx<ConfigPatch>): Promise<View> {
  const companyId = companyOf(ctx);
  const { id, ...given } = ctx.params;
  return sequelize().transaction(async (transaction) => {
    await requireRightsNow(ctx.meta, "smtp-sender.updateConfig", transaction);
    if (given.is_default) await unsetDefault(companyId, transaction);
    const found = await findConfig(companyId, id, transaction);
    const errors = {
      ...changeErrors(found, given),
      ...(await errorsOfMailbox(found, given.bounce_mailbox, transaction)),
      ...(await errorsOfDkim(found, given.dkim, transaction)),
    };
    if (Object.keys(errors).length > 0) throw invalid(errors);
    const resetState = SERVER_FIELDS.some((field) => given[field] !== undefined) ? RESET_STATE : {};
    const before = found.host;
    // Any change triggers a new deliverability check before the next send.
    await found.update({ ...columns(given, id), ...resetState, checkedAt: null }, { transaction });
    if (given.dkim !== undefined) {
      await saveKeys(found, keysFrom(given.dkim, await keysOf(found, transaction)), transaction);
    }
    await saveMailbox(found, given.bounce_mailbox, transaction);
    if (given.warmup !== undefined) await warmupChanged(found, transaction);
    const hostChange = found.host === before ? {} : { host: { from: before, to: found.host } };
    const detail = { name: found.name, fields: Object.keys(given), ...hostChange };
    await audit(companyId, ctx.meta, { action: "smtp_config.updated", target: id, detail }, transaction);
    if (found.host !== before) await noticeOfHost(ctx.meta, found, transaction);
    return viewOf(found, transaction);
  });
}

/** Notifies owners that email now goes through another server. */
async function noticeOfHost(
  { userId, apiKeyId }: Caller,
  { companyId, name, host }: SmtpConfig,
  transaction: Transaction,
): Promise<void> {
  if (!sendsSystemMail()) return;
  const company = await Company.findByPk(companyId, { transaction });
  const user = userId ? await User.findByPk(userId, { transaction }) : null;
  const author = user?.email ?? (apiKeyId ? "An API key" : "The operator");
  await noticeToOwners(
    companyId,
    "smtp_host_changed",
    { company: company!.name, config: name, host, by: author },
    transaction,
  );
}

/**
 * Campaigns that still use it fail their remaining recipients: the sender finds the configuration missing
 * (server/servers.ts).
 */
export async function removeConfig(ctx: Ctx<{ id: string }>): Promise<void> {
  const companyId = companyOf(ctx);
  const { id } = ctx.params;
  await sequelize().transaction(async (transaction) => {
    await requireRightsNow(ctx.meta, "smtp-sender.removeConfig", transaction);
    const found = await findConfig(companyId, id, transaction);
    await sequelize().query(
      "update companies set default_smtp_config_id = null where id = $1 and default_smtp_config_id = $2",
      { bind: [companyId, id], transaction },
    );
    await found.destroy({ transaction });
    const detail = { name: found.name };
    await audit(companyId, ctx.meta, { action: "smtp_config.deleted", target: id, detail }, transaction);
  });
}
