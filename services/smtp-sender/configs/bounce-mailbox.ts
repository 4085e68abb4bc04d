/** The mailbox that receives the bounces of an SMTP configuration. services/bounces reads it. */
import type { Transaction } from "sequelize";
import { BounceMailbox } from "../../../models/bounce-mailbox.ts";
import { sequelize } from "../../../models/database/db.ts";
import { seal } from "../../lib/secrets.ts";
import type { NewConfig } from "../contract-configs.ts";
import { hostError, passwordError } from "./config-errors.ts";

type GivenMailbox = NonNullable<NewConfig["bounce_mailbox"]>;

const IMPLICIT_TLS_PORT = 993;
const PLAIN_PORT = 143;
const REQUIRED = ["host", "username", "password"] as const;

const isGiven = (text: string | undefined) => text !== undefined && text.trim() !== "";

export const mailboxOf = (companyId: string, id: string, transaction: Transaction | null = null) =>
  BounceMailbox.findOne({ where: { companyId, id }, transaction });

const withDefaults = <T>(given: T | null | undefined, stored: T | undefined, defaults: T): T =>
  given === null ? defaults : (given ?? stored ?? defaults);

/** Merges the request, the stored row and the defaults, without the password. */
function merged(given: GivenMailbox, stored: BounceMailbox | null) {
  const useTls = withDefaults(given.use_tls, stored?.useTls, true);
  return {
    host: (given.host ?? stored?.host ?? "").trim(),
    port: withDefaults(given.port, stored?.port, useTls ? IMPLICIT_TLS_PORT : PLAIN_PORT),
    username: given.username ?? stored?.username ?? "",
    useTls,
    folder: withDefaults(given.folder, stored?.folder, "INBOX"),
    processedFolder: withDefaults(given.processed_folder, stored?.processedFolder, "Processed"),
  };
}

/** Error sentences, each starting with its field's name. */
export async function mailboxErrors(given: GivenMailbox, stored: BounceMailbox | null): Promise<string[]> {
  const mailbox = merged(given, stored);
  const errors = stored ? [] : REQUIRED.filter((field) => !isGiven(given[field])).map(required);
  if (given.host !== undefined) {
    const error = await hostError(given.host);
    if (error) errors.push(`host: ${error}`);
  }
  if (mailbox.folder.toLowerCase() === mailbox.processedFolder.toLowerCase()) {
    errors.push("processed_folder: This must be another folder than the one that is read.");
  }
  if (stored) {
    if (given.password !== undefined) {
      if (!isGiven(given.password)) errors.push("password: This field may not be blank.");
    } else {
      const { host, port, username, useTls } = mailbox;
      const found = passwordError({ ...stored.get(), tlsMode: "auto" }, { host, port, username, useTls });
      errors.push(...(found.password ?? []).map((sentence) => `password: ${sentence}`));
    }
  }
  return errors;
}

const required = (field: string) => `${field}: This field is required.`;

/**
 * Saves the mailbox; null removes it. An edited mailbox is read at once by the first free node, and a node that is
 * reading the old one notices and stops.
 */
export async function saveMailbox(
  config: { companyId: string; id: string },
  given: NewConfig["bounce_mailbox"],
  transaction: Transaction,
): Promise<void> {
  if (given === undefined) return;
  const { companyId, id } = config;
  const stored = await mailboxOf(companyId, id, transaction);
  if (given === null) return stored?.destroy({ transaction });
  const password = given.password === undefined ? {} : { passwordSealed: seal(given.password, id) };
  const mailbox = merged(given, stored);
  const values = { ...mailbox, ...password, origin: BounceMailbox.originOf({ companyId, ...mailbox }) };
  if (!stored) {
    await BounceMailbox.create({ ...(values as Required<typeof values>), id, companyId }, { transaction });
    return;
  }
  const now = sequelize().literal("now()") as unknown as Date;
  const resetState = {
    reader: null,
    leaseUntil: null,
    failures: 0,
    lastError: null,
    lastErrorAt: null,
    nextAttemptAt: now,
  };
  await stored.update({ ...values, ...resetState, revision: stored.revision + 1 }, { transaction });
}
