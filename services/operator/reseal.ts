/**
 * The second step of changing SECRET_KEY. With the old one as SECRET_KEY_OLD everything stays readable; this seals what is
 * stored anew, row by row, and only where the row is still as it was read: an edit made meanwhile is sealed with the new
 * key already. Safe to repeat and to interrupt.
 */
import { query, queryOne } from "../../models/database/db.ts";
import type { ReturnsOf } from "../contracts.ts";
import { isSealedNow, openableKeyIds, seal, unseal } from "../lib/secrets.ts";

const AT_ONCE = 500;

/** Everything that services/lib/secrets.ts seals; the row's id is the context of the envelope. */
const SEALED = [
  { what: "SMTP passwords", table: "smtp_configs", column: "password_sealed" },
  { what: "DKIM keys", table: "smtp_configs", column: "dkim_key_sealed" },
  { what: "webhook secrets", table: "webhook_endpoints", column: "secret_sealed" },
  { what: "former webhook secrets", table: "webhook_endpoints", column: "old_secret_sealed" },
] as const;

interface Row {
  id: string;
  company_id: string;
  sealed: Buffer;
}

type Line = ReturnsOf<"operator.reseal">[number];

async function resealOne({ table, column }: (typeof SEALED)[number], row: Row): Promise<"resealed" | "unreadable"> {
  let plain: string;
  try {
    plain = unseal(row.sealed, row.id);
  } catch {
    return "unreadable";
  }
  await queryOne(`update ${table} set ${column} = $4 where company_id = $1 and id = $2 and ${column} = $3`, [
    row.company_id,
    row.id,
    row.sealed,
    seal(plain, row.id),
  ]);
  return "resealed";
}

async function resealColumn(place: (typeof SEALED)[number]): Promise<Line> {
  const line: Line = { what: place.what, resealed: 0, current: 0, unreadable: 0 };
  let after = "00000000-0000-0000-0000-000000000000";
  for (;;) {
    const rows = await query<Row>(
      `select id, company_id, ${place.column} as sealed from ${place.table}
       where id > $1 and ${place.column} is not null order by id limit ${AT_ONCE}`,
      [after],
    );
    for (const row of rows) line[isSealedNow(row.sealed) ? "current" : await resealOne(place, row)]++;
    if (rows.length < AT_ONCE) return line;
    after = rows.at(-1)!.id;
  }
}

export async function reseal(): Promise<Line[]> {
  const lines: Line[] = [];
  for (const place of SEALED) lines.push(await resealColumn(place));
  return lines;
}

/**
 * How many stored secrets no key at hand opens: after a restore with another SECRET_KEY all of them, and every campaign
 * would fail. Told at the start, while nobody has sent yet.
 */
export async function unreadableSecrets(): Promise<number> {
  const ids = openableKeyIds();
  const begins = `substring(sealed from 1 for ${ids[0]!.length})`;
  const all = SEALED.map(({ table, column }) => `select ${column} as sealed from ${table}`).join(" union all ");
  const row = await queryOne<{ n: number }>(
    `select count(*)::int as n from (${all}) s where ${begins} <> all($1::bytea[])`,
    [ids],
  );
  return row!.n;
}
