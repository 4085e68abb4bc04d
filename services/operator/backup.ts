/**
 * `ops backup FILE`: writes a dump by pg_dump, or the files of an embedded database without a matching pg_dump, and
 * FILE.json, which describes the contents of the same snapshot. SECRET_KEY is in neither; sealed secrets stay sealed.
 */
import { createHash } from "node:crypto";
import { createReadStream, existsSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import type pg from "pg";
import type { Config } from "../lib/config.ts";
import { VERSION } from "../lib/version.ts";
import { copyFiles } from "./backup-files.ts";
import { canDump, databaseUrl, dump, withDatabase } from "./backup-tools.ts";

export interface Manifest {
  flockmail: string;
  taken_at: string;
  /** The last applied migration. */
  schema: string;
  postgresql: string;
  /** Position in the write-ahead log; null if the role may not see it. */
  lsn: string | null;
  bytes: number;
  sha256: string;
  rows: Record<string, number>;
  /** A dump by pg_dump, or the files of the embedded database (backup-files.ts), whose rows are not counted. */
  kind: "dump" | "files";
}

export const manifestOf = (file: string): string => `${file}.json`;

export async function sha256Of(file: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}

export const rowsOf = async <T extends pg.QueryResultRow>(client: pg.Client, sql: string): Promise<T[]> =>
  (await client.query<T>(sql)).rows;

// Counts partitions with their table.
const TABLES = `select c.relname as name from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition order by 1`;

/** Row counts by table name. */
export async function countRows(client: pg.Client): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { name } of await rowsOf<{ name: string }>(client, TABLES)) {
    const [row] = await rowsOf<{ n: string }>(client, `select count(*) as n from public."${name}"`);
    counts[name] = Number(row!.n);
  }
  return counts;
}

const ABOUT = `select to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as taken_at,
  (select max(name) from migrations) as schema, current_setting('server_version') as postgresql, pg_export_snapshot() as snapshot`;
const LSN = "select pg_current_wal_lsn()::text as lsn";

type About = Pick<Manifest, "taken_at" | "schema" | "postgresql"> & { snapshot: string };

/** Refuses to overwrite a file, and removes incomplete files after a failure. */
export async function backup(settings: Config, file: string): Promise<Manifest> {
  for (const one of [file, manifestOf(file)]) {
    if (existsSync(one)) throw new Error(`${resolve(one)} already exists; a backup never overwrites a file.`);
  }
  const url = databaseUrl(settings);
  const unfinished = `${file}.unfinished`;
  // Readable by its owner only: it contains addresses and password hashes.
  writeFileSync(unfinished, "", { mode: 0o600, flag: "wx" });
  try {
    const manifest = await withDatabase(url, async (client) => {
      const [at] = await rowsOf<{ lsn: string }>(client, LSN).catch(() => []);
      await client.query("begin isolation level repeatable read read only");
      const { snapshot, ...about } = (await rowsOf<About>(client, ABOUT))[0]!;
      const isDump = settings.DATABASE_URL !== undefined || (await canDump(client));
      if (isDump) await dump(client, url, unfinished, snapshot);
      const rows = isDump ? await countRows(client) : {};
      await client.query("commit");
      if (!isDump) await copyFiles(client, settings.DATA_DIR, unfinished);
      const { size: bytes } = statSync(unfinished);
      const sha256 = await sha256Of(unfinished);
      return {
        flockmail: VERSION,
        ...about,
        lsn: at?.lsn ?? null,
        bytes,
        sha256,
        rows,
        kind: isDump ? ("dump" as const) : ("files" as const),
      };
    });
    writeFileSync(manifestOf(file), `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600, flag: "wx" });
    renameSync(unfinished, file);
    return manifest;
  } catch (error) {
    rmSync(unfinished, { force: true });
    throw error;
  }
}
