/**
 * Lists every column with sealed secrets (services/lib/secrets.ts), of any service, because a change of SECRET_KEY
 * concerns all. The row's id is the context of the envelope.
 */
import { query, queryOne } from "../../models/database/db.ts";

export const SEALED_COLUMNS = [
  { what: "SMTP passwords", table: "smtp_configs", column: "password_sealed", owner: "company_id" },
  { what: "DKIM keys", table: "smtp_configs", column: "dkim_key_sealed", owner: "company_id" },
  { what: "further DKIM keys", table: "dkim_keys", column: "key_sealed", owner: "company_id" },
  { what: "passwords of mailboxes", table: "bounce_mailboxes", column: "password_sealed", owner: "company_id" },
  { what: "webhook secrets", table: "webhook_endpoints", column: "secret_sealed", owner: "company_id" },
  { what: "former webhook secrets", table: "webhook_endpoints", column: "old_secret_sealed", owner: "company_id" },
  { what: "addresses that are being erased", table: "erased_addresses", column: "address_sealed", owner: "company_id" },
  { what: "addresses of inbound sources", table: "inbound_sources", column: "token_sealed", owner: "company_id" },
  { what: "secrets of inbound sources", table: "inbound_sources", column: "secret_sealed", owner: "company_id" },
  // Users belong to no company.
  { what: "second factors", table: "users", column: "totp_secret_sealed", owner: "id" },
  // Belongs to no company. Sealing again keeps the key itself.
  { what: "the key of ids in mails", table: "installation", column: "mail_key_sealed", owner: "id" },
] as const;
export type SealedColumn = (typeof SEALED_COLUMNS)[number];

export interface SealedRow {
  id: string;
  owner_id: string;
  sealed: Buffer;
}

/** The next rows by id, over all companies. */
export const sealedRowsAfter = (
  { table, column, owner }: SealedColumn,
  id: string,
  limit: number,
): Promise<SealedRow[]> =>
  query<SealedRow>(
    `select id, ${owner} as owner_id, ${column} as sealed from ${table}
     where id > $1 and ${column} is not null order by id limit $2`,
    [id, limit],
  );

/**
 * Writes only if the row has not changed since it was read. Avoids Sequelize, which would count this as an edit
 * (updated_at).
 */
export async function replaceSealed(
  { table, column, owner }: SealedColumn,
  row: SealedRow,
  sealed: Buffer,
): Promise<void> {
  await query(`update ${table} set ${column} = $4 where ${owner} = $1 and id = $2 and ${column} = $3`, [
    row.owner_id,
    row.id,
    row.sealed,
    sealed,
  ]);
}

/** Counts envelopes that begin with none of these key ids (all of one length); an empty list counts all. */
export async function countSealedByOthers(keyIds: Buffer[]): Promise<number> {
  const all = SEALED_COLUMNS.map(({ table, column }) => `select ${column} as sealed from ${table}`).join(" union all ");
  const row = await queryOne<{ n: number }>(
    `select count(*)::int as n from (${all}) s where sealed is not null and substring(sealed from 1 for $2) <> all($1::bytea[])`,
    [keyIds, keyIds[0]?.length ?? 0],
  );
  return row!.n;
}
