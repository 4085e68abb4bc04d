/**
 * `ops restore-check FILE URL`: restores a backup into an empty database and reports whether it is complete and usable.
 * Keeps the database for inspection.
 */
import { readFileSync } from "node:fs";
import type pg from "pg";
import { closeDatabase, openDatabase } from "../../models/database/db.ts";
import { knownMigrations } from "../../models/database/migrate.ts";
import { WOULD_BE_RESENT } from "../../models/statements/restored-database.ts";
import type { Config } from "../lib/config.ts";
import { hasSecret, unseal } from "../lib/secrets.ts";
import { countRows, type Manifest, manifestOf, rowsOf, sha256Of } from "./backup.ts";
import { restore, withDatabase } from "./backup-tools.ts";
import { unreadableSecrets } from "./reseal.ts";
import { countSealedByOthers, SEALED_COLUMNS, sealedRowsAfter } from "./sealed-secrets.ts";

export interface Check {
  check: string;
  result: "ok" | "note" | "failed";
  detail: string;
}

const check = (name: string, faults: readonly string[], fine: string): Check => ({
  check: name,
  result: faults.length > 0 ? "failed" : "ok",
  detail: faults.length > 0 ? faults.slice(0, 10).join("; ") : fine,
});

interface Migrated {
  check: Check;
  pending: number;
}

async function checkMigrations(client: pg.Client): Promise<Migrated> {
  const migrations = knownMigrations();
  const applied = await rowsOf<{ name: string; checksum: string }>(client, "select name, checksum from migrations");
  const faults = applied
    .filter(({ name, checksum }) => migrations.get(name) !== checksum)
    .map(({ name }) => `${name} is unknown to this version: the backup was made by a newer one`);
  const pending = migrations.size - applied.length;
  const fine = pending > 0 ? `${pending} will be applied at start` : "all are applied";
  return { check: check("migrations", faults, fine), pending };
}

function checkRows(found: Record<string, number>, { rows }: Manifest): Check {
  const names = [...new Set([...Object.keys(rows), ...Object.keys(found)])];
  const faults = names
    .filter((name) => rows[name] !== found[name])
    .map((name) => `${name} has ${found[name] ?? "no table"} and should have ${rows[name] ?? "no table"}`);
  const all = Object.values(found).reduce((sum, n) => sum + n, 0);
  return check("rows", faults, `${all} in ${names.length} tables, as in the manifest`);
}

const UNCHECKED = `select conrelid::regclass || '.' || conname as name from pg_constraint where not convalidated`;
const INVALID = `select indexrelid::regclass::text as name from pg_index where not indisvalid`;

/** pg_restore validates foreign keys as it adds them; PostgreSQL marks the constraints that were not validated. */
async function checkConstraints(client: pg.Client): Promise<Check> {
  const found = [
    ...(await rowsOf<{ name: string }>(client, UNCHECKED)),
    ...(await rowsOf<{ name: string }>(client, INVALID)),
  ];
  return check(
    "keys and indexes",
    found.map(({ name }) => name),
    "all foreign keys, checks and indexes are valid",
  );
}

async function checkSecrets(settings: Config): Promise<Check> {
  if (!hasSecret(settings)) {
    const sealed = await countSealedByOthers([]);
    const detail = `not set here; ${sealed} stored passwords and keys need the backup's key`;
    return check("SECRET_KEY", sealed > 0 ? [detail] : [], "not set here, and not needed by anything stored");
  }
  const foreign = await unreadableSecrets();
  const faults = foreign > 0 ? [`${foreign} stored passwords and keys are sealed with another SECRET_KEY`] : [];
  let opened = 0;
  for (const column of SEALED_COLUMNS) {
    const [row] = await sealedRowsAfter(column, "00000000-0000-0000-0000-000000000000", 1);
    if (!row) continue;
    try {
      unseal(row.sealed, row.id);
      opened++;
    } catch {
      faults.push(`${column.what} cannot be opened with this SECRET_KEY`);
    }
  }
  return check("SECRET_KEY", faults, `opens the stored secrets (${opened} kinds checked)`);
}

/** Not an error: the service stops these campaigns when it starts on the restored database. */
async function checkCampaigns(client: pg.Client): Promise<Check> {
  const found = await rowsOf<{ name: string; id: string }>(client, WOULD_BE_RESENT);
  const names = found.slice(0, 10).map(({ name, id }) => `${name} (${id})`);
  const detail =
    found.length === 0
      ? "no newsletter was being sent"
      : `${found.length} newsletters would be stopped until somebody resumes them: ${names.join(", ")}`;
  return { check: "campaigns", result: found.length === 0 ? "ok" : "note", detail };
}

const IS_EMPTY = `select count(*)::int as n from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')`;

/** Writes to this database only. */
export async function checkBackup(settings: Config, file: string, url: string): Promise<Check[]> {
  const manifest = JSON.parse(readFileSync(manifestOf(file), "utf8")) as Manifest;
  const isSame = (await sha256Of(file)) === manifest.sha256;
  const checks = [
    check("file", isSame ? [] : ["its SHA-256 differs from the manifest"], `taken at ${manifest.taken_at}`),
  ];
  if (!isSame) return checks;
  if (manifest.kind === "files") {
    throw new Error(
      "This backup is a copy of the embedded database's files. Unpack it with tar into an empty folder, run `ops restored` and start with that folder as DATA_DIR.",
    );
  }
  return withDatabase(url, async (client) => {
    const [tables] = await rowsOf<{ n: number }>(client, IS_EMPTY);
    if (tables!.n > 0) throw new Error("The database to restore into is not empty; give an empty one.");
    await restore(client, url, file);
    const migrated = await checkMigrations(client);
    checks.push(migrated.check);
    checks.push(checkRows(await countRows(client), manifest));
    checks.push(await checkConstraints(client));
    // Tables of an older version lack columns that the following checks read.
    if (migrated.pending > 0) return checks;
    openDatabase(url, 3);
    try {
      checks.push(await checkSecrets(settings));
    } finally {
      await closeDatabase();
    }
    checks.push(await checkCampaigns(client));
    return checks;
  });
}
