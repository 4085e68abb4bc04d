/**
 * Second step of changing SECRET_KEY. With the old key as SECRET_KEY_OLD everything stays readable; this seals stored
 * secrets again, row by row, and skips a row that changed since it was read: a concurrent edit has sealed it with the
 * new key already. Safe to repeat and to interrupt.
 */

import type { ReturnsOf } from "../contracts.ts";
import { isSealedNow, openableKeyIds, seal, unseal } from "../lib/secrets.ts";
import {
  countSealedByOthers,
  replaceSealed,
  SEALED_COLUMNS,
  type SealedColumn,
  type SealedRow,
  sealedRowsAfter,
} from "./sealed-secrets.ts";

const PAGE = 500;
const BEFORE_ALL_IDS = "00000000-0000-0000-0000-000000000000";

type Resealed = ReturnsOf<"operator.reseal">[number];

async function resealRow(column: SealedColumn, row: SealedRow): Promise<"current" | "resealed" | "unreadable"> {
  if (isSealedNow(row.sealed)) return "current";
  let plain: string;
  try {
    plain = unseal(row.sealed, row.id);
  } catch {
    return "unreadable";
  }
  await replaceSealed(column, row, seal(plain, row.id));
  return "resealed";
}

async function resealColumn(column: SealedColumn): Promise<Resealed> {
  const counts: Resealed = { what: column.what, resealed: 0, current: 0, unreadable: 0 };
  let after = BEFORE_ALL_IDS;
  for (;;) {
    const rows = await sealedRowsAfter(column, after, PAGE);
    for (const row of rows) counts[await resealRow(column, row)]++;
    if (rows.length < PAGE) return counts;
    after = rows.at(-1)!.id;
  }
}

export async function reseal(): Promise<Resealed[]> {
  const all: Resealed[] = [];
  for (const column of SEALED_COLUMNS) all.push(await resealColumn(column));
  return all;
}

/**
 * Counts stored secrets that no key opens, at start, before anything is sent. After a restore with another SECRET_KEY
 * these are all, and every campaign would fail.
 */
export const unreadableSecrets = (): Promise<number> => countSealedByOthers(openableKeyIds());
